// A small client on the TypeScript SDK 1.x (`@modelcontextprotocol/sdk`), for `cargo xtask peers`.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
    CallToolResultSchema,
    CreateMessageRequestSchema,
    ElicitRequestSchema,
    ListRootsRequestSchema,
    LoggingMessageNotificationSchema,
    ResourceUpdatedNotificationSchema
} from '@modelcontextprotocol/sdk/types.js';

import { run } from './client-deeds.mjs';

const REQUESTS = {
    'elicitation/create': ElicitRequestSchema,
    'sampling/createMessage': CreateMessageRequestSchema,
    'roots/list': ListRootsRequestSchema
};
const NOTIFICATIONS = {
    'notifications/message': LoggingMessageNotificationSchema,
    'notifications/resources/updated': ResourceUpdatedNotificationSchema
};

await run({
    newClient: (options) => new Client({ name: 'peer-ts-sdk1-client', version: '1.0.0' }, options),
    transport(target, args) {
        if (!target.startsWith('http')) return new StdioClientTransport({ command: target, args });
        const url = new URL(target);
        return url.pathname.endsWith('/sse') ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url);
    },
    handle(client, method, handler) {
        if (method in REQUESTS) client.setRequestHandler(REQUESTS[method], handler);
        else client.setNotificationHandler(NOTIFICATIONS[method], handler);
    },
    call: (client, name, args, options, _meta) =>
        client.callTool({ name, arguments: args, ...(_meta && { _meta }) }, undefined, options),
    async callAsTask(client, name, args) {
        const task = { ttl: 60_000 };
        const stream = client.experimental.tasks.callToolStream({ name, arguments: args }, CallToolResultSchema, { task });
        for await (const message of stream) if (message.type === 'error') throw message.error;
    },
    era: () => 'legacy',
    async watch(client, uri) {
        await client.subscribeResource({ uri });
        return () => client.unsubscribeResource({ uri });
    }
});
