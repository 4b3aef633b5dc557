// The tokens of an answer. All of them are one stop of the Tab key; arrows move inside.

import { useEffect, useRef } from 'preact/hooks';

import { memo } from './memo';
import { closenessOf, type Token } from './tokens';

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

interface Props {
  readonly side: string;
  readonly tokens: readonly Token[];
  readonly position: number | null;
  readonly difference: number | null;
  readonly onPosition: (position: number | null) => void;
}

// Scrolls inside the box alone: the page must not jump because a pointer moved.
function bringIntoBox(box: HTMLElement, place: HTMLElement): void {
  const top = place.offsetTop;
  const bottom = top + place.offsetHeight;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
}

// Two lines: whoever is that near the end wants to see the answer grow.
const NEAR_END_PX = 60;

export function TokenList({ side, tokens, position, difference, onPosition }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = position === null ? null : box.current?.querySelector<HTMLElement>(`[data-at="${position}"]`);
    if (box.current && place) bringIntoBox(box.current, place);
  }, [position]);
  useEffect(() => {
    const { current } = box;
    if (current === null || position !== null) return;
    const below = current.scrollHeight - current.scrollTop - current.clientHeight;
    if (below < NEAR_END_PX) current.scrollTop = current.scrollHeight;
  }, [tokens.length]);
  return (
    <div
      class="tokens"
      ref={box}
      tabIndex={0}
      role="group"
      aria-label={`Answer ${side}; arrow keys move from token to token`}
      // Not onMouseOver: it is also sent when the box scrolls under a pointer that rests, and would undo the arrow keys.
      onMouseMove={(event) => {
        const at = positionOf(event);
        if (at !== null && at !== position) onPosition(at);
      }}
      onClick={(event) => onPosition(positionOf(event))}
      onFocus={() => position === null && tokens.length > 0 && onPosition(0)}
      onKeyDown={(event) => {
        const at = event.key === 'Escape' ? null : moved(event.key, position, tokens.length);
        if (at === null && event.key !== 'Escape') return;
        event.preventDefault();
        onPosition(at);
      }}
    >
      {tokens.map((token, at) => (
        <TokenText key={at} token={token} at={at} isChosen={at === position} isDifference={at === difference} />
      ))}
      {difference === tokens.length && <span class="token difference unseen">end</span>}
    </div>
  );
}
