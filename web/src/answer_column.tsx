// One answer: its tokens, what stands behind the chosen one, and what the answer was made of.

import type { Answer } from './answer';
import { FingerprintRows } from './fingerprint_rows';
import { TokenDetail } from './token_detail';
import { TokenList } from './token_list';

interface Props {
  readonly side: string;
  readonly answer: Answer | undefined;
  readonly position: number | null;
  readonly difference: number | null;
  readonly onPosition: (position: number | null) => void;
}

function endOf(answer: Answer): string {
  const { status, tokens, finishReason, seconds } = answer;
  const rate = seconds !== null && seconds > 0 && tokens.length > 1 ? (tokens.length - 1) / seconds : null;
  const parts = [`${tokens.length} tokens`];
  if (status === 'running') parts.push('running…');
  if (status === 'stopped') parts.push('stopped');
  if (finishReason !== '') parts.push(finishReason === 'length' ? 'ended by max tokens' : 'ended by itself');
  if (answer.promptTokens !== null) parts.push(`prompt of ${answer.promptTokens} tokens`);
  if (rate !== null) parts.push(`${rate.toFixed(1)} tokens/s`);
  return parts.join(' · ');
}

export function AnswerColumn({ side, answer, position, difference, onPosition }: Props) {
  if (answer === undefined) return <article class="answer empty">Run {side} has not run yet.</article>;
  const chosen = position === null ? undefined : answer.tokens[position];
  return (
    <article class="answer" data-side={side} data-status={answer.status}>
      <h3>
        {side} <small>{endOf(answer)}</small>
      </h3>
      {answer.problem !== '' && (
        <p class="problem" role="alert">
          {answer.problem}
        </p>
      )}
      <TokenList
        side={side}
        tokens={answer.tokens}
        position={position}
        difference={difference}
        onPosition={onPosition}
      />
      <TokenDetail at={position} token={chosen} />
      {answer.fingerprint && (
        <details>
          <summary>What it was made of</summary>
          <FingerprintRows fingerprint={answer.fingerprint} seed={answer.seed} />
        </details>
      )}
    </article>
  );
}
