// A small, faultless server on FastMCP for TypeScript (npm `fastmcp`), for `cargo xtask peers`: a framework on the
// official TypeScript SDK 1.x with an HTTP server of its own.
//
// `node ts-fastmcp.mjs stdio` speaks on its standard streams; `node ts-fastmcp.mjs http` listens on the loopback port in
// PORT, path /mcp. It uses the framework as its own documentation shows: what a judge finds here is the framework's
// doing, or the SDK's.
import { setTimeout as sleep } from 'node:timers/promises';

import { FastMCP } from 'fastmcp';
import * as z from 'zod/v4';

const annotations = { readOnlyHint: true, openWorldHint: false };
const server = new FastMCP({ name: 'peer-ts-fastmcp', version: '1.0.0' });

server.addTool({
    name: 'echo',
    description: 'Say the text back',
    parameters: z.object({ text: z.string().describe('What to say back') }),
    annotations,
    execute: async (args) => args.text
});

server.addTool({
    name: 'add',
    description: 'Add two whole numbers',
    parameters: z.object({ a: z.int(), b: z.int() }),
    outputSchema: z.object({ sum: z.number() }),
    annotations,
    execute: async ({ a, b }) => {
        const structuredContent = { sum: a + b };
        return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
    }
});

server.addTool({
    name: 'countdown',
    description: 'Count down, one step every 20 ms, reporting progress',
    parameters: z.object({ steps: z.int().min(1).max(100).describe('How many steps to take') }),
    annotations,
    execute: async ({ steps }, { reportProgress }) => {
        for (let progress = 1; progress <= steps; progress++) {
            await sleep(20);
            await reportProgress({ progress, total: steps });
        }
        return `counted ${steps} steps`;
    }
});

server.addResource({
    uri: 'memo://greeting',
    name: 'greeting',
    description: 'A friendly word',
    mimeType: 'text/plain',
    load: async () => ({ text: 'Good day.' })
});

server.addPrompt({
    name: 'summarize',
    description: 'Ask for a summary of a text',
    arguments: [{ name: 'text', description: 'What to sum up', required: true }],
    load: async (args) => `Sum this up in one sentence:\n\n${args.text}`
});

switch (process.argv[2]) {
    case 'stdio':
        await server.start({ transportType: 'stdio' });
        break;
    case 'http':
        await server.start({
            transportType: 'httpStream',
            httpStream: { port: Number(process.env.PORT), host: '127.0.0.1' }
        });
        break;
    default:
        console.error('usage: node ts-fastmcp.mjs stdio | PORT=… node ts-fastmcp.mjs http');
        process.exit(2);
}
