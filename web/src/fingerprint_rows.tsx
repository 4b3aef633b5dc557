// A fingerprint in full, with its three parts.

import type { Fingerprint } from './server';

interface Props {
  readonly fingerprint: Fingerprint;
  readonly seed?: string;
}

export function FingerprintRows({ fingerprint, seed }: Props) {
  const rows: [string, string][] = [
    ['Fingerprint', fingerprint.whole],
    ['semantic', fingerprint.semantic],
    ['numeric', fingerprint.numeric],
    ['deployment', fingerprint.deployment],
  ];
  if (seed !== undefined && seed !== '') rows.push(['seed', seed]);
  return (
    <dl class="fingerprint">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code data-name={name}>{value}</code>
          </dd>
        </div>
      ))}
    </dl>
  );
}
