// The same small server on one of many frameworks for Node, for `cargo xtask peers --more`.
//
// `node small.mjs FRAMEWORK` speaks on its standard streams, or listens on the loopback port in PORT, path /mcp, where the
// framework speaks HTTP alone. Each framework is used as its own documentation shows: what a judge finds here is its doing.
const port = Number(process.env.PORT);
const text = (text) => ({ content: [{ type: 'text', text }] });

async function listen(fetch) {
    const { serve } = await import('@hono/node-server');
    serve({ fetch, port, hostname: '127.0.0.1' });
}

/** The tools on the official SDK's registerTool, which several frameworks pass on. */
function onSdk(server, z) {
    server.registerTool('echo', { description: 'Say the text back', inputSchema: z.object({ text: z.string() }) }, async (args) =>
        text(args.text)
    );
    server.registerTool(
        'add',
        { description: 'Add two whole numbers', inputSchema: z.object({ a: z.number().int(), b: z.number().int() }) },
        async ({ a, b }) => text(String(a + b))
    );
}

const frameworks = {
    async litemcp() {
        const { LiteMCP } = await import('litemcp');
        const { z } = await import('zod/v3');
        const server = new LiteMCP('peer-litemcp', '1.0.0');
        server.addTool({
            name: 'echo',
            description: 'Say the text back',
            parameters: z.object({ text: z.string() }),
            execute: async (args) => args.text
        });
        server.addTool({
            name: 'add',
            description: 'Add two whole numbers',
            parameters: z.object({ a: z.number(), b: z.number() }),
            execute: async ({ a, b }) => String(a + b)
        });
        server.addResource({
            uri: 'memo://greeting',
            name: 'greeting',
            mimeType: 'text/plain',
            load: async () => ({ text: 'Good day.' })
        });
        await server.start();
    },

    async 'mcp-use'() {
        const { MCPServer } = await import('mcp-use');
        const { z } = await import('zod');
        const server = new MCPServer({ name: 'peer-mcp-use', version: '1.0.0' });
        server.tool({ name: 'echo', description: 'Say the text back', inputSchema: z.object({ text: z.string() }) }, async (args) =>
            text(args.text)
        );
        server.tool(
            { name: 'add', description: 'Add two whole numbers', inputSchema: z.object({ a: z.number(), b: z.number() }) },
            async ({ a, b }) => text(String(a + b))
        );
        await server.listen(port);
    },

    async sylphx(http = false) {
        const sdk = await import('@sylphx/mcp-server-sdk');
        const { object, str, num } = await import('@sylphx/vex');
        const echo = sdk
            .tool()
            .description('Say the text back')
            .input(object({ text: str() }))
            .handler(({ input }) => sdk.text(input.text));
        const add = sdk
            .tool()
            .description('Add two whole numbers')
            .input(object({ a: num(), b: num() }))
            .handler(({ input }) => sdk.text(String(input.a + input.b)));
        const transport = http ? sdk.http({ port, hostname: '127.0.0.1' }) : sdk.stdio();
        await sdk.createServer({ name: 'peer-sylphx', version: '1.0.0', tools: { echo, add }, transport }).start();
    },
    'sylphx-http': () => frameworks.sylphx(true),

    async zuplo() {
        const { MCPServer } = await import('@zuplo/mcp/server');
        const { HTTPStreamableTransport } = await import('@zuplo/mcp/transport/httpstreamable');
        const { ZodValidator } = await import('@zuplo/mcp/tools/zod');
        const { z } = await import('zod/v4');
        const server = new MCPServer({ name: 'peer-zuplo', version: '1.0.0' });
        server.addTool({
            name: 'echo',
            description: 'Say the text back',
            validator: new ZodValidator(z.object({ text: z.string() })),
            handler: async (args) => ({ ...text(args.text), isError: false })
        });
        server.addTool({
            name: 'add',
            description: 'Add two whole numbers',
            validator: new ZodValidator(z.object({ a: z.number(), b: z.number() })),
            handler: async ({ a, b }) => ({ ...text(String(a + b)), isError: false })
        });
        const transport = new HTTPStreamableTransport();
        await transport.connect();
        server.withTransport(transport);
        await listen((request) => transport.handleRequest(request));
    },

    async vercel() {
        const { createMcpHandler } = await import('mcp-handler');
        const { z } = await import('zod');
        await listen(createMcpHandler((server) => onSdk(server, z), {}, { basePath: '' }));
    },

    async hono() {
        const { StreamableHTTPTransport } = await import('@hono/mcp');
        const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
        const { Hono } = await import('hono');
        const { z } = await import('zod');
        const server = new McpServer({ name: 'peer-hono', version: '1.0.0' });
        onSdk(server, z);
        const transport = new StreamableHTTPTransport();
        await server.connect(transport);
        const app = new Hono();
        app.all('/mcp', (context) => transport.handleRequest(context));
        await listen(app.fetch);
    }
};

const run = frameworks[process.argv[2]];
if (!run) {
    console.error(`usage: [PORT=…] small.mjs ${Object.keys(frameworks).join(' | ')}`);
    process.exit(2);
}
await run();
