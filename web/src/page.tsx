// The page: the server's state above, two answers to one question below.

import { useEffect, useRef, useState } from 'preact/hooks';

import { run, type Answer } from './answer';
import { AnswerColumn } from './answer_column';
import { compare } from './compare';
import { Legend } from './legend';
import { ServerPanel } from './server_panel';
import { SettingsFields, questionOf, type Settings } from './settings';
import { VerdictLine, differenceOf } from './verdict';

type Side = 'A' | 'B';
const SIDES: readonly Side[] = ['A', 'B'];

const FIRST: Settings = { temperature: '0', seed: '1', tokensMax: '64' };

export function Page() {
  const [key, setKey] = useState('');
  const [system, setSystem] = useState('');
  const [prompt, setPrompt] = useState('Why is the sky blue? Answer in two sentences.');
  const [settings, setSettings] = useState<Record<Side, Settings>>({ A: FIRST, B: FIRST });
  const [answers, setAnswers] = useState<Partial<Record<Side, Answer>>>({});
  // One position for both answers: what stands there in A is shown beside what stands there in B.
  const [position, setPosition] = useState<number | null>(null);
  const abort = useRef<Partial<Record<Side, AbortController>>>({});

  useEffect(() => () => SIDES.forEach((side) => abort.current[side]?.abort()), []);

  const start = (side: Side) => {
    const question = questionOf(system, prompt, settings[side]);
    abort.current[side]?.abort();
    const controller = new AbortController();
    abort.current[side] = controller;
    setPosition(null);
    void run(question, key, controller.signal, (answer) => {
      // What an earlier run still says is nobody's answer any more.
      if (abort.current[side] === controller) setAnswers((before) => ({ ...before, [side]: answer }));
    });
  };
  const startBoth = () => SIDES.forEach(start);
  const stop = () => SIDES.forEach((side) => abort.current[side]?.abort());

  const { A, B } = answers;
  const isRunning = A?.status === 'running' || B?.status === 'running';
  const verdict = A && B && A.status === 'done' && B.status === 'done' ? compare(A, B) : null;
  const difference = differenceOf(verdict);

  return (
    <main>
      <ServerPanel apiKey={key} onApiKey={setKey} />
      <form
        class="question"
        onSubmit={(event) => {
          event.preventDefault();
          startBoth();
        }}
      >
        <h2>Try it</h2>
        <label class="wide">
          System text
          <textarea
            name="system"
            rows={2}
            value={system}
            placeholder="empty: none, or the model's own"
            onInput={(event) => setSystem(event.currentTarget.value)}
          />
        </label>
        <label class="wide">
          Prompt
          <textarea name="prompt" rows={3} value={prompt} onInput={(event) => setPrompt(event.currentTarget.value)} />
        </label>
        <div class="sides">
          {SIDES.map((side) => (
            <SettingsFields
              key={side}
              side={side}
              settings={settings[side]}
              onChange={(changed) => setSettings((before) => ({ ...before, [side]: changed }))}
              onRun={() => start(side)}
              isRunning={answers[side]?.status === 'running'}
            />
          ))}
        </div>
        <div class="buttons">
          <button type="submit" class="main" name="run-both">
            Run both
          </button>
          <button type="button" name="stop" disabled={!isRunning} onClick={stop}>
            Stop
          </button>
        </div>
      </form>
      {(A || B) && (
        <section aria-label="Answers">
          <VerdictLine verdict={verdict} a={A} b={B} onShow={setPosition} />
          <div class="sides">
            {SIDES.map((side) => (
              <AnswerColumn
                key={side}
                side={side}
                answer={answers[side]}
                position={position}
                difference={difference}
                onPosition={setPosition}
              />
            ))}
          </div>
          <Legend />
        </section>
      )}
    </main>
  );
}
