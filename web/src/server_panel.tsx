// The server's state: asked again every few seconds while the page is seen.

import { useEffect, useState } from 'preact/hooks';

import { FingerprintRows } from './fingerprint_rows';
import { ApiFailure, askAbout, askLoad, askReady, type About, type Load } from './server';

const PAUSE_MS = 3000;

interface State {
  readonly about: About | null;
  readonly load: Load | null;
  readonly rate: number | null; // tokens computed a second
  readonly isReady: boolean;
  readonly needsKey: boolean;
  readonly problem: string;
}

const UNKNOWN: State = { about: null, load: null, rate: null, isReady: false, needsKey: false, problem: '' };

// Asks for the state until it is told to stop.
function watch(key: string, show: (change: (before: State) => State) => void): () => void {
  let timer = 0;
  let isOver = false;
  let last: { rows: number; at: number } | null = null;
  let about: About | null = null;
  const step = async () => {
    try {
      if (document.visibilityState === 'visible') {
        const isReady = await askReady();
        about ??= await askAbout(key);
        const load = await askLoad(key);
        const at = performance.now();
        const rate = last === null ? null : ((load.rows - last.rows) * 1000) / (at - last.at);
        last = { rows: load.rows, at };
        if (!isOver) show(() => ({ about, load, rate, isReady, needsKey: false, problem: '' }));
      }
    } catch (failure) {
      const needsKey = failure instanceof ApiFailure && failure.status === 401;
      // The server may come back as another one.
      about = null;
      last = null;
      const problem = needsKey ? '' : failure instanceof Error ? failure.message : String(failure);
      if (!isOver) show((before) => ({ ...before, load: null, rate: null, isReady: needsKey, needsKey, problem }));
      // Asking again would only fill the server's log; another key begins anew.
      if (needsKey) return;
    }
    if (!isOver) timer = window.setTimeout(() => void step(), PAUSE_MS);
  };
  void step();
  return () => {
    isOver = true;
    window.clearTimeout(timer);
  };
}

interface Props {
  readonly apiKey: string;
  readonly onApiKey: (key: string) => void;
}

function wordOf(state: State): string {
  if (state.needsKey) return 'needs a key';
  if (state.problem !== '') return 'cannot be reached';
  return state.isReady ? 'ready' : 'asking…';
}

export function ServerPanel({ apiKey, onApiKey }: Props) {
  const [state, setState] = useState<State>(UNKNOWN);
  useEffect(() => watch(apiKey, setState), [apiKey]);
  const { about, load, rate } = state;
  const facts: [string, string][] = [
    ['Running', load === null ? '–' : String(load.running)],
    ['Waiting', load === null ? '–' : String(load.waiting)],
    ['Tokens/s', rate === null ? '–' : rate.toFixed(0)],
    ['Context', about?.contextMax ? String(about.contextMax) : '–'],
  ];
  return (
    <header>
      <div class="title">
        <h1>samebit {about && <small>{about.version}</small>}</h1>
        <span class={`state ${state.isReady && !state.needsKey ? 'good' : 'bad'}`} role="status">
          {wordOf(state)}
        </span>
      </div>
      {about && <p class="model">{about.model}</p>}
      {state.problem !== '' && <p class="problem">{state.problem}</p>}
      <dl class="facts" title="Tokens a second count the prompts' tokens too">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd data-name={name}>{value}</dd>
          </div>
        ))}
      </dl>
      {about && (
        <>
          <FingerprintRows fingerprint={about.fingerprint} />
          <details>
            <summary>The whole document, for the server's default parameters</summary>
            <pre>{about.document}</pre>
          </details>
        </>
      )}
      <label class="key">
        API key <small>(kept until the page is left)</small>
        <input
          name="key"
          type="password"
          autocomplete="off"
          value={apiKey}
          onChange={(event) => onApiKey(event.currentTarget.value.trim())}
        />
      </label>
    </header>
  );
}
