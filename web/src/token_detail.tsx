// The numbers behind one token.

import { visible, type Token } from './tokens';

interface Props {
  readonly at: number | null;
  readonly token: Token | undefined;
}

function percent(logprob: number): string {
  const value = Math.exp(logprob) * 100;
  return value >= 0.01 ? `${value.toFixed(2)} %` : `${value.toExponential(1)} %`;
}

export function TokenDetail({ at, token }: Props) {
  if (token === undefined) {
    const hint = at === null ? 'Point at a token, or move with the arrow keys.' : `There is no token ${at + 1}.`;
    return <div class="detail hint">{hint}</div>;
  }
  return (
    <div class="detail" aria-live="polite">
      <dl>
        <dt>Token {at === null ? '' : at + 1}</dt>
        <dd>
          <code>{visible(token.name)}</code>
          {token.id !== null && <small> id {token.id}</small>}
        </dd>
        <dt>Log-probability</dt>
        <dd data-name="logprob">
          {String(token.logprob)} <small>{percent(token.logprob)}</small>
        </dd>
        <dt>Logit margin</dt>
        <dd data-name="margin">{token.margin === null ? 'not told' : String(token.margin)}</dd>
      </dl>
      <ol>
        {token.candidates.map((one, index) => (
          <li key={index}>
            <code>{visible(one.text)}</code> <small>{percent(one.logprob)}</small>
          </li>
        ))}
      </ol>
    </div>
  );
}
