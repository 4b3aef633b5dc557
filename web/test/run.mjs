// Bundles every *.test.ts of this folder and runs it with Node's own test runner.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const folder = dirname(fileURLToPath(import.meta.url));
const out = mkdtempSync(join(tmpdir(), 'samebit-page-test-'));
const names = readdirSync(folder).filter((name) => name.endsWith('.test.ts'));
await build({
  entryPoints: names.map((name) => join(folder, name)),
  bundle: true,
  platform: 'node',
  format: 'esm',
  outdir: out,
  outExtension: { '.js': '.mjs' },
  logLevel: 'error',
});
const files = names.map((name) => join(out, name.replace(/\.ts$/, '.mjs')));
const { status } = spawnSync(process.execPath, ['--test', ...files], { stdio: 'inherit' });
rmSync(out, { recursive: true });
process.exit(names.length > 0 ? (status ?? 1) : 1);
