// One answer while it comes and after it came.

import { field, list, number, numbers, text, type Json } from './json';
import { ApiFailure, ask, fingerprintOf, type Fingerprint, type Question } from './server';
import { TokenReader, type Token } from './tokens';

export type Status = 'running' | 'done' | 'stopped' | 'failed';

export interface Answer {
  readonly question: Question;
  readonly status: Status;
  readonly tokens: readonly Token[];
  readonly promptIds: readonly number[];
  readonly finishReason: string;
  readonly fingerprint: Fingerprint | null;
  readonly seed: string; // the one that was used
  readonly promptTokens: number | null;
  readonly seconds: number | null; // from the first token to the last
  readonly problem: string;
}

const started = (question: Question): Answer => ({
  question,
  status: 'running',
  tokens: [],
  promptIds: [],
  finishReason: '',
  fingerprint: null,
  seed: '',
  promptTokens: null,
  seconds: null,
  problem: '',
});

function sentenceOf(failure: unknown): string {
  if (failure instanceof ApiFailure && failure.code !== '') {
    return `${failure.message} (${failure.code}${failure.param === '' ? '' : `, ${failure.param}`})`;
  }
  return failure instanceof Error ? failure.message : String(failure);
}

// Asks and tells `show` about each new state. Never rejects.
export async function run(question: Question, key: string, signal: AbortSignal, show: (answer: Answer) => void) {
  const reader = new TokenReader();
  let answer = started(question);
  let firstAt: number | null = null;
  const update = (change: Partial<Answer>) => {
    answer = { ...answer, ...change };
    show(answer);
  };
  show(answer);
  const take = (chunk: Json) => {
    const choice = list(field(chunk, 'choices'))[0];
    const tokens = reader.read(choice);
    if (tokens.length > 0 && firstAt === null) firstAt = performance.now();
    const promptIds = numbers(field(chunk, 'prompt_token_ids'));
    const says = field(chunk, 'reproducibility');
    update({
      ...(tokens.length > 0 && { tokens: [...answer.tokens, ...tokens] }),
      ...(promptIds.length > 0 && { promptIds }),
      ...(text(field(choice, 'finish_reason')) !== '' && { finishReason: text(field(choice, 'finish_reason')) }),
      ...(says !== undefined && { fingerprint: fingerprintOf(says), seed: text(field(says, 'seed')) }),
      ...(field(chunk, 'usage') && { promptTokens: number(field(field(chunk, 'usage'), 'prompt_tokens')) }),
    });
  };
  try {
    await ask(question, key, signal, take);
    update({ status: 'done', seconds: firstAt === null ? null : (performance.now() - firstAt) / 1000 });
  } catch (failure) {
    if (signal.aborted) update({ status: 'stopped' });
    else update({ status: 'failed', problem: sentenceOf(failure) });
  }
}
