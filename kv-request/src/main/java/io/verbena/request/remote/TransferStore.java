package io.verbena.request.remote;

import org.agrona.collections.Long2ObjectHashMap;

import java.util.Iterator;

/**
 * What is under way in parts at a compute node: keys and values that come in before their operation, and values that
 * wait to be fetched. Bounded in bytes and in time, so that clients that died leave nothing. Owned by the server's
 * thread.
 */
final class TransferStore
{
    /** A client that has not gone on for so long is taken to be gone: 10 s. */
    static final long MAX_AGE_NS = 10_000_000_000L;

    private static final class Transfer
    {
        private final byte[] bytes;
        private int received;
        private long expiresAtNs;

        Transfer(final byte[] bytes, final long expiresAtNs)
        {
            this.bytes = bytes;
            this.expiresAtNs = expiresAtNs;
        }
    }

    /** By ids that clients chose. */
    private final Long2ObjectHashMap<Transfer> uploads = new Long2ObjectHashMap<>();
    /** By ids given here. */
    private final Long2ObjectHashMap<Transfer> results = new Long2ObjectHashMap<>();
    private final long maxBytes;
    private long usedBytes;
    private long nextId;
    private long nextExpiryNs;

    /**
     * @param maxBytes held at once.
     * @param firstId  of results; not guessable from an earlier life of the server.
     */
    TransferStore(final long maxBytes, final long firstId)
    {
        this.maxBytes = maxBytes;
        nextId = firstId;
    }

    /** @return bytes held now. */
    long usedBytes()
    {
        return usedBytes;
    }

    /**
     * Takes one part. Parts may come in any order, each once.
     *
     * @return where to put it, at {@code partOffset}.
     * @throws MalformedRequestException when it does not fit its transfer, or there is no room for a new one.
     */
    byte[] part(final long id, final int totalLength, final int partOffset, final int partLength, final long nowNs)
    {
        Transfer transfer = uploads.get(id);
        if (null == transfer)
        {
            checkRoom(totalLength);
            transfer = new Transfer(new byte[totalLength], nowNs + MAX_AGE_NS);
            add(uploads, id, transfer);
        }
        if (transfer.bytes.length != totalLength || transfer.received + partLength > totalLength)
        {
            throw new MalformedRequestException("part of transfer " + id + ": length=" + partLength + " at " +
                partOffset + " of " + totalLength + ", but the transfer has length " + transfer.bytes.length +
                " and " + transfer.received + " bytes of it are here");
        }
        transfer.received += partLength;
        transfer.expiresAtNs = nowNs + MAX_AGE_NS;
        return transfer.bytes;
    }

    /**
     * Takes a transfer out.
     *
     * @return its bytes, or null when it is not there or not complete.
     */
    byte[] take(final long id, final int totalLength)
    {
        final Transfer transfer = uploads.get(id);
        if (null == transfer || transfer.received != totalLength || transfer.bytes.length != totalLength)
        {
            return null;
        }
        remove(uploads, id);
        return transfer.bytes;
    }

    /**
     * Keeps a value to be fetched.
     *
     * @return its id, never 0; or 0 when there is no room.
     */
    long keep(final byte[] value, final long nowNs)
    {
        if (usedBytes + value.length > maxBytes)
        {
            return 0;
        }
        nextId = -1 == nextId ? 1 : nextId + 1;
        final Transfer transfer = new Transfer(value, nowNs + MAX_AGE_NS);
        add(results, nextId, transfer);
        return nextId;
    }

    /**
     * Reads a part of a kept value; the value goes when all of it was read.
     *
     * @return the value, or null when it is not there or has another length.
     */
    byte[] fetch(final long id, final int totalLength, final int partLength)
    {
        final Transfer transfer = results.get(id);
        if (null == transfer || transfer.bytes.length != totalLength)
        {
            return null;
        }
        transfer.received += partLength;
        if (transfer.received >= totalLength)
        {
            remove(results, id);
        }
        return transfer.bytes;
    }

    /** Drops what nobody has touched for long. */
    void expire(final long nowNs)
    {
        if (0 != usedBytes && nextExpiryNs - nowNs <= 0)
        {
            nextExpiryNs = nowNs + MAX_AGE_NS / 10;
            expire(uploads, nowNs);
            expire(results, nowNs);
        }
    }

    private void expire(final Long2ObjectHashMap<Transfer> transfers, final long nowNs)
    {
        final Iterator<Transfer> all = transfers.values().iterator();
        while (all.hasNext())
        {
            final Transfer transfer = all.next();
            if (transfer.expiresAtNs - nowNs <= 0)
            {
                usedBytes -= transfer.bytes.length;
                all.remove();
            }
        }
    }

    private void checkRoom(final int lengthBytes)
    {
        if (usedBytes + lengthBytes > maxBytes)
        {
            throw new MalformedRequestException("no room for a transfer of " + lengthBytes + " bytes: " + usedBytes +
                " of " + maxBytes + " are in use; try again later, or another node");
        }
    }

    private void add(final Long2ObjectHashMap<Transfer> transfers, final long id, final Transfer transfer)
    {
        transfers.put(id, transfer);
        usedBytes += transfer.bytes.length;
    }

    private void remove(final Long2ObjectHashMap<Transfer> transfers, final long id)
    {
        usedBytes -= transfers.remove(id).bytes.length;
    }
}
