// Two answers, token by token: where do they part?

import type { Token } from './tokens';

export interface Compared {
  readonly promptIds: readonly number[];
  readonly tokens: readonly Token[];
  readonly finishReason: string;
}

export type Verdict =
  | { readonly kind: 'prompts-differ' }
  | { readonly kind: 'equal'; readonly count: number }
  // The tokens before `at` are equal in every bit that is reported.
  | { readonly kind: 'tokens-differ'; readonly at: number }
  | { readonly kind: 'bits-differ'; readonly at: number }
  | { readonly kind: 'one-ends'; readonly at: number; readonly ends: 'A' | 'B' };

// Binary32 numbers are written as their shortest decimals: equal numbers here are equal bits there.
function sameBits(a: Token, b: Token): boolean {
  return Object.is(a.logprob, b.logprob) && Object.is(a.margin, b.margin);
}

function samePrompt(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id, at) => id === b[at]);
}

export function compare(a: Compared, b: Compared): Verdict {
  if (!samePrompt(a.promptIds, b.promptIds)) return { kind: 'prompts-differ' };
  const count = Math.min(a.tokens.length, b.tokens.length);
  for (let at = 0; at < count; ++at) {
    const one = a.tokens[at];
    const other = b.tokens[at];
    if (one === undefined || other === undefined || one.id !== other.id) return { kind: 'tokens-differ', at };
    if (!sameBits(one, other)) return { kind: 'bits-differ', at };
  }
  if (a.tokens.length !== b.tokens.length) {
    return { kind: 'one-ends', at: count, ends: a.tokens.length === count ? 'A' : 'B' };
  }
  return { kind: 'equal', count };
}
