// What the colours of tokens mean.

const ROWS = [
  ['coin-toss', 'under 0.1: nearly a coin toss'],
  ['close', 'under 0.5: other arithmetic could decide otherwise'],
  ['likely', 'under 2'],
  ['clear', '2 and more'],
] as const;

export function Legend() {
  return (
    <p class="legend">
      Logit margin:{' '}
      {ROWS.map(([name, meaning]) => (
        <span key={name} class="entry">
          <span class={`token ${name}`}>token</span> {meaning}
        </span>
      ))}
    </p>
  );
}
