// What the page asks the server that it came from. The key is a parameter: nothing here keeps it.

import { EventReader } from './events';
import { field, list, text, number, type Json } from './json';

export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly param: string,
    message: string,
  ) {
    super(message);
  }
}

function headersFor(key: string): Record<string, string> {
  return key === '' ? {} : { Authorization: `Bearer ${key}` };
}

function parsed(body: string): Json | undefined {
  try {
    return JSON.parse(body) as Json;
  } catch {
    return undefined;
  }
}

function failureOf(status: number, body: string): ApiFailure {
  const error = field(parsed(body), 'error');
  const message = text(field(error, 'message')) || `the server answered ${status}`;
  return new ApiFailure(status, text(field(error, 'code')), text(field(error, 'param')), message);
}

async function get(path: string, key: string): Promise<string> {
  const response = await fetch(path, { headers: headersFor(key), cache: 'no-store' });
  const body = await response.text();
  if (!response.ok) throw failureOf(response.status, body);
  return body;
}

export interface Fingerprint {
  readonly whole: string;
  readonly semantic: string;
  readonly numeric: string;
  readonly deployment: string;
}

export interface About {
  readonly model: string;
  readonly contextMax: number | null;
  readonly version: string;
  readonly fingerprint: Fingerprint;
  readonly document: string; // the fingerprint's document, for people
}

function fingerprintOf(value: Json | undefined): Fingerprint {
  return {
    whole: text(field(value, 'inference_fingerprint')),
    semantic: text(field(value, 'semantic_sha256')),
    numeric: text(field(value, 'numeric_sha256')),
    deployment: text(field(value, 'deployment_sha256')),
  };
}

// What stays as long as the server runs.
export async function askAbout(key: string): Promise<About> {
  // One after the other: without a key the first refusal is enough.
  const models = parsed(await get('/v1/models', key));
  const version = parsed(await get('/version', key));
  const fingerprint = parsed(await get('/v1/fingerprint', key));
  const model = list(field(models, 'data'))[0];
  return {
    model: text(field(model, 'id')),
    contextMax: number(field(model, 'max_model_len')),
    version: text(field(version, 'version')),
    fingerprint: fingerprintOf(fingerprint),
    document: JSON.stringify(field(fingerprint, 'document') ?? null, null, 2),
  };
}

export interface Load {
  readonly running: number;
  readonly waiting: number;
  readonly rows: number; // tokens computed since the start, prompts included
}

// Reads three numbers out of the Prometheus text.
export function loadOf(metrics: string): Load {
  const value = (name: string): number => {
    const line = metrics.split('\n').find((one) => one.startsWith(`${name} `));
    return line === undefined ? 0 : Number(line.slice(name.length + 1));
  };
  return {
    running: value('samebit:num_requests_running'),
    waiting: value('samebit:num_requests_waiting'),
    rows: value('samebit:engine_rows_total'),
  };
}

export async function askLoad(key: string): Promise<Load> {
  return loadOf(await get('/metrics', key));
}

export async function askReady(): Promise<boolean> {
  return (await fetch('/ready', { cache: 'no-store' })).ok;
}

export interface Question {
  readonly system: string;
  readonly prompt: string;
  readonly temperature: number;
  readonly seed: string; // "" for none; a string, because 64 bits do not fit a number
  readonly tokensMax: number;
}

// The most candidates that the page shows beside a token.
const CANDIDATES = 5;

export function bodyOf(question: Question): Json {
  const messages: Json[] = question.system === '' ? [] : [{ role: 'system', content: question.system }];
  messages.push({ role: 'user', content: question.prompt });
  return {
    messages,
    temperature: question.temperature,
    max_tokens: question.tokensMax,
    ...(question.seed === '' ? {} : { seed: question.seed }),
    stream: true,
    stream_options: { include_usage: true },
    logprobs: true,
    top_logprobs: CANDIDATES,
    return_margins: true,
    return_token_ids: true,
  };
}

// Streams an answer: every chunk is handed to `onChunk`. Resolves when the stream ended with [DONE].
export async function ask(
  question: Question,
  key: string,
  signal: AbortSignal,
  onChunk: (chunk: Json) => void,
): Promise<void> {
  const response = await fetch('/v1/chat/completions', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headersFor(key) },
    body: JSON.stringify(bodyOf(question)),
    signal,
  });
  if (!response.ok || response.body === null) throw failureOf(response.status, await response.text());
  const reader = response.body.getReader();
  const events = new EventReader();
  let isDone = false;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    for (const event of events.push(value)) {
      if (event === '[DONE]') {
        isDone = true;
        continue;
      }
      const chunk = parsed(event);
      if (chunk === undefined) throw new ApiFailure(0, 'broken_stream', '', 'the stream holds something that is no JSON');
      if (field(chunk, 'error') !== undefined) throw failureOf(200, event);
      onChunk(chunk);
    }
  }
  if (!isDone) throw new ApiFailure(0, 'broken_stream', '', 'the stream ended before the answer did');
}

export { fingerprintOf };
