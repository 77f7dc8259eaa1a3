// A small client on the TypeScript SDK v2 (`@modelcontextprotocol/client`), for `cargo xtask peers`.
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { run } from './client-deeds.mjs';

// Left alone, the SDK speaks the legacy era only.
const MODES = { auto: 'auto', legacy: 'legacy', modern: { pin: '2026-07-28' } };

await run({
    newClient: (options, era) =>
        new Client(
            { name: 'peer-ts-sdk-client', version: '1.0.0' },
            { ...options, versionNegotiation: { mode: MODES[era] } }
        ),
    transport(target, args) {
        if (!target.startsWith('http')) return new StdioClientTransport({ command: target, args });
        const url = new URL(target);
        return url.pathname.endsWith('/sse') ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url);
    },
    handle(client, method, handler) {
        if (method.startsWith('notifications/')) client.setNotificationHandler(method, handler);
        else client.setRequestHandler(method, handler);
    },
    call: (client, name, args, options, _meta) =>
        client.callTool({ name, arguments: args, ...(_meta && { _meta }) }, options),
    era: (client) => client.getProtocolEra(),
    async watch(client, uri) {
        if (client.getProtocolEra() === 'modern') {
            const subscription = await client.listen({ resourceSubscriptions: [uri] });
            return () => subscription.close();
        }
        await client.subscribeResource({ uri });
        return () => client.unsubscribeResource({ uri });
    }
});
