#!/usr/bin/env node
// Runs the `proof` of this machine's platform package with the same arguments, streams and exit code.
'use strict';

const { constants } = require('node:os');
const path = require('node:path');

const platform = `${process.platform}-${process.arch}`;

function binary() {
  try {
    const manifest = require.resolve(`@proofhouse/${platform}/package.json`);
    return path.join(path.dirname(manifest), 'bin', 'proof');
  } catch {
    console.error(`proofhouse: the package @proofhouse/${platform} is not installed`);
    console.error('try: npm install proofhouse without --omit=optional or --no-optional');
    console.error('or, where no such package exists: cargo install --locked --git https://github.com/proofhouse/proofhouse cli');
    process.exit(2);
  }
}

// Without execve (before Node 22.15), the program is a child: it gets the signals that end this process.
function spawned(program, args) {
  const child = require('node:child_process').spawn(program, args, { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both processes; a second one would end the program at once.
  const forwarded = process.stdin.isTTY ? ['SIGTERM', 'SIGHUP'] : ['SIGTERM', 'SIGHUP', 'SIGINT'];
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) {
    process.on(signal, () => {
      if (forwarded.includes(signal)) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    console.error(`proofhouse: cannot start ${program}: ${error.message}`);
    process.exit(2);
  });
  child.on('exit', (code, signal) => process.exit(signal ? 128 + (constants.signals[signal] ?? 0) : code));
}

const program = binary();
const args = process.argv.slice(2);
if (typeof process.execve === 'function') {
  // Node warns that execve is experimental.
  process.removeAllListeners('warning');
  process.execve(program, [program, ...args]);
} else {
  spawned(program, args);
}
