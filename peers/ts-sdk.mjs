// A small, faultless server on the TypeScript SDK v2 (`@modelcontextprotocol/server`), for `cargo xtask peers`.
//
// `node ts-sdk.mjs stdio` speaks on its standard streams; `node ts-sdk.mjs http` listens on the loopback port in PORT,
// path /mcp. It serves every revision that the SDK serves and uses the SDK as its own documentation shows: what a
// judge finds here is the SDK's doing.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod/v4';

const readOnly = { readOnlyHint: true };
const text = (text) => ({ content: [{ type: 'text', text }] });

// The SDK asks for a fresh server per connection (stdio) or per request (HTTP); one definition serves both eras.
function newServer() {
    const server = new McpServer({ name: 'peer-ts-sdk', version: '1.0.0' });

    server.registerTool(
        'echo',
        {
            description: 'Say the text back',
            inputSchema: z.object({ text: z.string().describe('What to say back') }),
            annotations: readOnly
        },
        async (args) => text(args.text)
    );

    server.registerTool(
        'add',
        {
            description: 'Add two whole numbers',
            inputSchema: z.object({ a: z.int(), b: z.int() }),
            outputSchema: z.object({ sum: z.number() }),
            annotations: readOnly
        },
        async ({ a, b }) => {
            const structuredContent = { sum: a + b };
            return { ...text(JSON.stringify(structuredContent)), structuredContent };
        }
    );

    server.registerTool(
        'countdown',
        {
            description: 'Count down, one step every 20 ms, reporting progress',
            inputSchema: z.object({ steps: z.int().min(1).max(100).describe('How many steps to take') }),
            annotations: readOnly
        },
        async ({ steps }, ctx) => {
            const progressToken = ctx.mcpReq._meta?.progressToken;
            for (let progress = 1; progress <= steps; progress++) {
                await sleep(20, undefined, { signal: ctx.mcpReq.signal });
                if (progressToken !== undefined) {
                    await ctx.mcpReq.notify({
                        method: 'notifications/progress',
                        params: { progressToken, progress, total: steps }
                    });
                }
            }
            return text(`counted ${steps} steps`);
        }
    );

    server.registerResource(
        'greeting',
        'memo://greeting',
        { description: 'A friendly word', mimeType: 'text/plain' },
        async (uri) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'Good day.' }] })
    );

    server.registerPrompt(
        'summarize',
        {
            description: 'Ask for a summary of a text',
            argsSchema: z.object({ text: z.string().describe('What to sum up') })
        },
        async (args) => ({
            messages: [
                { role: 'user', content: { type: 'text', text: `Sum this up in one sentence:\n\n${args.text}` } }
            ]
        })
    );

    return server;
}

function serveHttp(port) {
    const handle = toNodeHandler(createMcpHandler(newServer));
    const hostAllowed = localhostHostValidation();
    const originAllowed = localhostOriginValidation();
    const http = createServer((request, response) => {
        // Each guard answers a request that it refuses.
        if (!hostAllowed(request, response) || !originAllowed(request, response)) return;
        if (request.url.split('?')[0] !== '/mcp') {
            response.writeHead(404).end();
            return;
        }
        handle(request, response);
    });
    http.listen(port, '127.0.0.1');
}

switch (process.argv[2]) {
    case 'stdio':
        serveStdio(newServer);
        break;
    case 'http':
        serveHttp(Number(process.env.PORT));
        break;
    default:
        console.error('usage: node ts-sdk.mjs stdio | PORT=… node ts-sdk.mjs http');
        process.exit(2);
}
