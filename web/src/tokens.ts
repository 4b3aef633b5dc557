// The tokens of an answer: what the stream says of each, and the text that each one adds.

import { field, list, number, numbers, text, type Json } from './json';

export interface Candidate {
  readonly text: string;
  readonly logprob: number;
}

export interface Token {
  readonly id: number | null;
  readonly name: string; // as the server writes it; a part of a character as U+FFFD
  readonly shown: string; // what it adds to the text: nothing for all but the last part of a character
  readonly isControl: boolean; // it has no text
  readonly logprob: number;
  readonly margin: number | null; // largest logit minus second largest
  readonly candidates: readonly Candidate[];
}

// One per answer: characters that are cut between tokens are put together.
export class TokenReader {
  private readonly decoder = new TextDecoder('utf-8');

  // The tokens of one choice of one chunk.
  read(choice: Json | undefined): Token[] {
    const ids = numbers(field(choice, 'token_ids'));
    return list(field(field(choice, 'logprobs'), 'content')).map((entry, at) => {
      const bytes = numbers(field(entry, 'bytes'));
      return {
        id: ids[at] ?? null,
        name: text(field(entry, 'token')),
        shown: this.decoder.decode(Uint8Array.from(bytes), { stream: true }),
        isControl: bytes.length === 0,
        logprob: number(field(entry, 'logprob')) ?? NaN,
        margin: number(field(entry, 'logit_margin')),
        candidates: list(field(entry, 'top_logprobs')).map((one) => ({
          text: text(field(one, 'token')),
          logprob: number(field(one, 'logprob')) ?? NaN,
        })),
      };
    });
  }
}

// How close the decision was. Arithmetic that is only nearly the same flips decisions under half a logit; the bounds of
// the classes are fixed so that two pages can be compared by eye.
export type Closeness = 'coin-toss' | 'close' | 'likely' | 'clear';

export function closenessOf(margin: number | null): Closeness {
  if (margin === null || margin >= 2) return 'clear';
  if (margin >= 0.5) return 'likely';
  return margin >= 0.1 ? 'close' : 'coin-toss';
}

// Spaces and line ends made visible, for a token that is shown by itself.
export function visible(name: string): string {
  return name.replace(/ /g, '␣').replace(/\n/g, '⏎').replace(/\t/g, '⇥');
}
