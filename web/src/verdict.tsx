// What the comparison of both answers says, as a sentence.

import type { Answer } from './answer';
import type { Verdict } from './compare';
import { visible } from './tokens';

// The position that is marked in both answers.
export function differenceOf(verdict: Verdict | null): number | null {
  if (verdict === null || verdict.kind === 'equal' || verdict.kind === 'prompts-differ') return null;
  return verdict.at;
}

function tokenAt(answer: Answer | undefined, at: number): string {
  const token = answer?.tokens[at];
  return token === undefined ? 'nothing' : `“${visible(token.name)}”`;
}

interface Props {
  readonly verdict: Verdict | null;
  readonly a: Answer | undefined;
  readonly b: Answer | undefined;
  readonly onShow: (position: number) => void;
}

function sentenceOf(verdict: Verdict, a: Answer | undefined, b: Answer | undefined): string {
  switch (verdict.kind) {
    case 'equal':
      return `equal: ${verdict.count} tokens, bit for bit`;
    case 'prompts-differ':
      return 'not compared: the prompts differ';
    case 'tokens-differ':
      return `first difference at token ${verdict.at + 1}: A ${tokenAt(a, verdict.at)}, B ${tokenAt(b, verdict.at)}`;
    case 'bits-differ':
      return `first difference at token ${verdict.at + 1}: the same token, other numbers`;
    case 'one-ends':
      return `equal for ${verdict.at} tokens, bit for bit; then ${verdict.ends} ends`;
  }
}

export function VerdictLine({ verdict, a, b, onShow }: Props) {
  const isRunning = a?.status === 'running' || b?.status === 'running';
  const waits = isRunning ? 'running…' : 'run both to compare them';
  const at = differenceOf(verdict);
  return (
    <p class={`verdict ${verdict?.kind ?? 'none'}`} role="status">
      {verdict === null ? waits : sentenceOf(verdict, a, b)}
      {at !== null && (
        <button type="button" name="show-difference" onClick={() => onShow(at)}>
          show it
        </button>
      )}
    </p>
  );
}
