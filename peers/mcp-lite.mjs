// A small, faultless server on mcp-lite, for `cargo xtask peers`. mcp-lite is an implementation of its own: nothing of
// the official SDKs is in it. It speaks Streamable HTTP alone.
//
// `node mcp-lite.mjs` listens on the loopback port in PORT, path /mcp, with sessions kept in memory. It uses the SDK as
// its own documentation shows: what a judge finds here is the SDK's doing.
import { setTimeout as sleep } from 'node:timers/promises';

import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { InMemoryClientRequestAdapter, InMemorySessionAdapter, McpServer, StreamableHttpTransport } from 'mcp-lite';
import * as z from 'zod/v4';

const annotations = { readOnlyHint: true };
const text = (text) => ({ content: [{ type: 'text', text }] });

function newServer() {
    const server = new McpServer({
        name: 'peer-mcp-lite',
        version: '1.0.0',
        schemaAdapter: (schema) => z.toJSONSchema(schema)
    });

    server.tool('echo', {
        description: 'Say the text back',
        inputSchema: z.object({ text: z.string().describe('What to say back') }),
        annotations,
        handler: (args) => text(args.text)
    });

    server.tool('add', {
        description: 'Add two whole numbers',
        inputSchema: z.object({ a: z.int(), b: z.int() }),
        outputSchema: z.object({ sum: z.number() }),
        annotations,
        handler: ({ a, b }) => {
            const structuredContent = { sum: a + b };
            return { ...text(JSON.stringify(structuredContent)), structuredContent };
        }
    });

    server.tool('countdown', {
        description: 'Count down, one step every 20 ms, reporting progress',
        inputSchema: z.object({ steps: z.int().min(1).max(100).describe('How many steps to take') }),
        annotations,
        handler: async ({ steps }, ctx) => {
            for (let progress = 1; progress <= steps; progress++) {
                await sleep(20);
                await ctx.progress?.({ progress, total: steps });
            }
            return text(`counted ${steps} steps`);
        }
    });

    server.resource(
        'memo://greeting',
        { name: 'greeting', description: 'A friendly word', mimeType: 'text/plain' },
        async (uri) => ({ contents: [{ uri: uri.href, type: 'text', mimeType: 'text/plain', text: 'Good day.' }] })
    );

    server.prompt('summarize', {
        description: 'Ask for a summary of a text',
        arguments: z.object({ text: z.string().describe('What to sum up') }),
        handler: (args) => ({
            messages: [
                { role: 'user', content: { type: 'text', text: `Sum this up in one sentence:\n\n${args.text}` } }
            ]
        })
    });

    return server;
}

const port = Number(process.env.PORT);
const here = [`127.0.0.1:${port}`, `localhost:${port}`];
const transport = new StreamableHttpTransport({
    sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 1024 }),
    clientRequestAdapter: new InMemoryClientRequestAdapter({ defaultTimeoutMs: 30000 }),
    allowedHosts: here,
    allowedOrigins: here.map((host) => `http://${host}`)
});
const answer = transport.bind(newServer());
const app = new Hono();
app.all('/mcp', (context) => answer(context.req.raw));
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' });
