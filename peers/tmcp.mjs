// A small, faultless server on tmcp, for `cargo xtask peers`. tmcp is an implementation of its own: nothing of the
// official SDKs is in it.
//
// `node tmcp.mjs stdio` speaks on its standard streams; `node tmcp.mjs http` listens on the loopback port in PORT, path
// /mcp. It serves every revision that the SDK serves and uses the SDK as its own documentation shows: what a judge
// finds here is the SDK's doing.
import { setTimeout as sleep } from 'node:timers/promises';

import { serve } from '@hono/node-server';
import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod';
import { HttpTransport } from '@tmcp/transport-http';
import { StdioTransport } from '@tmcp/transport-stdio';
import { McpServer } from 'tmcp';
import * as z from 'zod/v4';

const annotations = { readOnlyHint: true };
const text = (text) => ({ content: [{ type: 'text', text }] });

function newServer() {
    const server = new McpServer(
        { name: 'peer-tmcp', version: '1.0.0' },
        { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {}, prompts: {}, resources: {} } }
    );

    server.tool(
        {
            name: 'echo',
            description: 'Say the text back',
            schema: z.object({ text: z.string().describe('What to say back') }),
            annotations
        },
        async (args) => text(args.text)
    );

    server.tool(
        {
            name: 'add',
            description: 'Add two whole numbers',
            schema: z.object({ a: z.int(), b: z.int() }),
            outputSchema: z.object({ sum: z.number() }),
            annotations
        },
        async ({ a, b }) => {
            const structuredContent = { sum: a + b };
            return { ...text(JSON.stringify(structuredContent)), structuredContent };
        }
    );

    server.tool(
        {
            name: 'countdown',
            description: 'Count down, one step every 20 ms, reporting progress',
            schema: z.object({ steps: z.int().min(1).max(100).describe('How many steps to take') }),
            annotations
        },
        async ({ steps }) => {
            for (let step = 1; step <= steps; step++) {
                await sleep(20);
                server.progress(step, steps);
            }
            return text(`counted ${steps} steps`);
        }
    );

    server.resource(
        { name: 'greeting', description: 'A friendly word', uri: 'memo://greeting', mimeType: 'text/plain' },
        async (uri) => ({ contents: [{ uri, mimeType: 'text/plain', text: 'Good day.' }] })
    );

    server.prompt(
        {
            name: 'summarize',
            description: 'Ask for a summary of a text',
            schema: z.object({ text: z.string().describe('What to sum up') })
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
    const transport = new HttpTransport(newServer(), { path: '/mcp', allowedOrigins: [] });
    const fetch = async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 });
    serve({ fetch, port, hostname: '127.0.0.1' });
}

switch (process.argv[2]) {
    case 'stdio':
        new StdioTransport(newServer()).listen();
        break;
    case 'http':
        serveHttp(Number(process.env.PORT));
        break;
    default:
        console.error('usage: node tmcp.mjs stdio | PORT=… node tmcp.mjs http');
        process.exit(2);
}
