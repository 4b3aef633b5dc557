// The parameters of one of the two runs, as they are typed.

import type { Question } from './server';

export interface Settings {
  readonly temperature: string;
  readonly seed: string;
  readonly tokensMax: string;
}

// What is typed goes to the server as it is: the server says what is wrong with a value.
export function questionOf(system: string, prompt: string, settings: Settings): Question {
  return {
    system,
    prompt,
    temperature: Number(settings.temperature),
    seed: settings.seed.trim(),
    tokensMax: Number(settings.tokensMax),
  };
}

interface Props {
  readonly side: string;
  readonly settings: Settings;
  readonly onChange: (settings: Settings) => void;
  readonly onRun: () => void;
  readonly isRunning: boolean;
}

export function SettingsFields({ side, settings, onChange, onRun, isRunning }: Props) {
  const entry = (name: keyof Settings, label: string, min: number, max: number, step: string) => (
    <label>
      {label}
      <input
        name={`${name}-${side}`}
        type="number"
        required={name !== 'seed'}
        min={min}
        max={max}
        step={step}
        value={settings[name]}
        onInput={(event) => onChange({ ...settings, [name]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <fieldset>
      <legend>Run {side}</legend>
      {entry('temperature', 'Temperature', 0, 100, 'any')}
      <label>
        Seed
        <input
          name={`seed-${side}`}
          type="text"
          inputMode="numeric"
          pattern="[0-9]*"
          value={settings.seed}
          onInput={(event) => onChange({ ...settings, seed: event.currentTarget.value })}
        />
      </label>
      {entry('tokensMax', 'Max tokens', 1, 1048576, '1')}
      <button type="button" name={`run-${side}`} onClick={onRun}>
        {isRunning ? `Run ${side} again` : `Run ${side}`}
      </button>
    </fieldset>
  );
}
