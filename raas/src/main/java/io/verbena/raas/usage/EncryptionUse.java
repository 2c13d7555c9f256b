package io.verbena.raas.usage;

/**
 * Encrypted connections of a server.
 *
 * @param connections     that are encrypted now.
 * @param refusedInClear  connections refused so far because they were to be encrypted.
 * @param refusedMessages messages so far that were not the next one of an encrypted connection: changed, replayed, left
 *                        out, out of order, in clear, or of another connection. Each ended its connection.
 */
public record EncryptionUse(int connections, long refusedInClear, long refusedMessages)
{
    /** Of a server that has refused nothing, and has none. */
    public static final EncryptionUse NONE = new EncryptionUse(0, 0, 0);

    /** @return connections and messages refused so far. */
    public long refused()
    {
        return refusedInClear + refusedMessages;
    }
}
