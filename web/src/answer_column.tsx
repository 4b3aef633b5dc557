// One answer: its tokens, what stands behind the chosen one, and what the answer was made of. The tokens are one stop of
// the Tab key; arrows move inside.

import { memo } from './memo';
import type { Answer } from './answer';
import { FingerprintRows } from './fingerprint_rows';
import { TokenDetail } from './token_detail';
import { closenessOf, type Token } from './tokens';

interface Props {
  readonly side: string;
  readonly answer: Answer | undefined;
  readonly position: number | null;
  readonly difference: number | null;
  readonly onPosition: (position: number | null) => void;
}

interface TokenProps {
  readonly token: Token;
  readonly at: number;
  readonly isChosen: boolean;
  readonly isDifference: boolean;
}

const TokenText = memo(({ token, at, isChosen, isDifference }: TokenProps) => {
  const names = ['token', closenessOf(token.margin)];
  if (isChosen) names.push('chosen');
  if (isDifference) names.push('difference');
  if (token.isControl || token.shown === '') names.push('unseen');
  return (
    <span class={names.join(' ')} data-at={at}>
      {token.isControl ? token.name : token.shown === '' ? '·' : token.shown}
    </span>
  );
});

function positionOf(event: Event): number | null {
  const place = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-at]') : null;
  return place === null ? null : Number(place.dataset['at']);
}

// Where an arrow key leads; null: the key is not ours.
function moved(key: string, from: number | null, count: number): number | null {
  const last = count - 1;
  switch (key) {
    case 'ArrowRight':
    case 'ArrowDown':
      return from === null ? 0 : Math.min(from + 1, last);
    case 'ArrowLeft':
    case 'ArrowUp':
      return from === null ? last : Math.max(Math.min(from, last + 1) - 1, 0);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
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
      <div
        class="tokens"
        tabIndex={0}
        role="group"
        aria-label={`Answer ${side}; arrow keys move from token to token`}
        onMouseOver={(event) => {
          const at = positionOf(event);
          if (at !== null) onPosition(at);
        }}
        onClick={(event) => onPosition(positionOf(event))}
        onFocus={() => position === null && answer.tokens.length > 0 && onPosition(0)}
        onKeyDown={(event) => {
          const at = event.key === 'Escape' ? null : moved(event.key, position, answer.tokens.length);
          if (at === null && event.key !== 'Escape') return;
          event.preventDefault();
          onPosition(at);
        }}
      >
        {answer.tokens.map((token, at) => (
          <TokenText key={at} token={token} at={at} isChosen={at === position} isDifference={at === difference} />
        ))}
        {difference === answer.tokens.length && <span class="token difference unseen">end</span>}
      </div>
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
