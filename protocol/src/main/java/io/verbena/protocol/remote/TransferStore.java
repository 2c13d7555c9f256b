package io.verbena.protocol.remote;

import org.agrona.DirectBuffer;
import org.agrona.collections.Long2ObjectHashMap;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * What is under way in parts at a compute node: keys and values that come in before their operation, and values that
 * wait to be fetched. What belongs to one connection no other one can name. Bounded in bytes, for each connection and
 * for all of them, and in time, so that clients that died leave nothing. Owned by the server's thread.
 */
final class TransferStore
{
    /** A client that has not gone on for so long is taken to be gone: 10 s. */
    static final long MAX_AGE_NS = 10_000_000_000L;
    /** What a connection may hold of the whole: an eighth. */
    static final int CONNECTIONS = 8;
    /** What each transfer is counted for beside its bytes. */
    static final int TRANSFER_BYTES = 256;
    /** What each part is counted for beside its bytes. */
    static final int PART_BYTES = 64;

    private record Part(int offset, byte[] bytes)
    {
    }

    private static final class Transfer
    {
        private final int totalLength;
        private final byte[] result;
        private final List<Part> parts;
        private int done;
        private int countedBytes = TRANSFER_BYTES;
        private long expiresAtNs;

        Transfer(final int totalLength, final byte[] result, final long expiresAtNs)
        {
            this.totalLength = totalLength;
            this.result = result;
            this.expiresAtNs = expiresAtNs;
            parts = null == result ? new ArrayList<>() : List.of();
        }
    }

    private static final class Connection
    {
        /** By ids that the client chose. */
        private final Long2ObjectHashMap<Transfer> uploads = new Long2ObjectHashMap<>();
        /** By ids given here. */
        private final Long2ObjectHashMap<Transfer> results = new Long2ObjectHashMap<>();
        private long usedBytes;
    }

    private final Long2ObjectHashMap<Connection> connections = new Long2ObjectHashMap<>();
    private final RandomGenerator random;
    private final long maxBytes;
    private long usedBytes;
    private long nextExpiryNs;

    /**
     * @param maxBytes held at once, for all connections.
     * @param random   of the device: ids of results are not to be guessed.
     */
    TransferStore(final long maxBytes, final RandomGenerator random)
    {
        this.maxBytes = maxBytes;
        this.random = random;
    }

    /** @return bytes held now, with what is counted for each transfer and part. */
    long usedBytes()
    {
        return usedBytes;
    }

    /** @return connections of which something is held. */
    int connections()
    {
        return connections.size();
    }

    /**
     * Takes one part. Parts may come in any order, each once.
     *
     * @throws MalformedRequestException when it does not fit its transfer, or there is no room for it.
     */
    void part(
        final long connection, final long id, final int totalLength, final int partOffset, final DirectBuffer source,
        final int sourceOffset, final int partLength, final long nowNs)
    {
        final Connection of = connections.get(connection);
        final Transfer known = null == of ? null : of.uploads.get(id);
        if (null != known && (known.totalLength != totalLength || known.done + partLength > totalLength))
        {
            throw new MalformedRequestException("part of transfer " + id + ": length=" + partLength + " at " +
                partOffset + " of " + totalLength + ", but the transfer has length " + known.totalLength +
                " and " + known.done + " bytes of it are here");
        }
        final int neededBytes = PART_BYTES + partLength + (null == known ? TRANSFER_BYTES : 0);
        if (!hasRoom(of, neededBytes))
        {
            throw new MalformedRequestException("no room for a transfer of " + totalLength + " bytes: " + usedBytes +
                " of " + maxBytes + " are in use, " + (null == of ? 0 : of.usedBytes) + " by this client, of " +
                maxBytes / CONNECTIONS + "; try again later, or another node");
        }
        final Connection owner = owner(connection);
        final Transfer transfer = null == known ? new Transfer(totalLength, null, nowNs) : known;
        if (null == known)
        {
            owner.uploads.put(id, transfer);
            count(owner, TRANSFER_BYTES);
        }
        final byte[] bytes = new byte[partLength];
        source.getBytes(sourceOffset, bytes);
        transfer.parts.add(new Part(partOffset, bytes));
        transfer.countedBytes += PART_BYTES + partLength;
        count(owner, PART_BYTES + partLength);
        transfer.done += partLength;
        transfer.expiresAtNs = nowNs + MAX_AGE_NS;
    }

    /**
     * Takes a transfer out.
     *
     * @return its bytes, or null when it is not there or not complete.
     */
    byte[] take(final long connection, final long id, final int totalLength)
    {
        final Connection owner = connections.get(connection);
        final Transfer transfer = null == owner ? null : owner.uploads.get(id);
        if (null == transfer || transfer.done != totalLength || transfer.totalLength != totalLength)
        {
            return null;
        }
        owner.uploads.remove(id);
        end(connection, owner, transfer);
        final byte[] whole = new byte[totalLength];
        transfer.parts.forEach((part) -> System.arraycopy(part.bytes, 0, whole, part.offset, part.bytes.length));
        return whole;
    }

    /**
     * Keeps a value to be fetched by a connection.
     *
     * @return its id, never 0; or 0 when there is no room.
     */
    long keep(final long connection, final byte[] value, final long nowNs)
    {
        if (!hasRoom(connections.get(connection), TRANSFER_BYTES + value.length))
        {
            return 0;
        }
        final Connection owner = owner(connection);
        final Transfer transfer = new Transfer(value.length, value, nowNs + MAX_AGE_NS);
        transfer.countedBytes += value.length;
        long id = random.nextLong();
        while (0 == id || owner.results.containsKey(id))
        {
            id = random.nextLong();
        }
        owner.results.put(id, transfer);
        count(owner, transfer.countedBytes);
        return id;
    }

    /**
     * Reads a part of a value that is kept for the connection; the value goes when all of it was read.
     *
     * @return the value, or null when it is not there or has another length.
     */
    byte[] fetch(final long connection, final long id, final int totalLength, final int partLength)
    {
        final Connection owner = connections.get(connection);
        final Transfer transfer = null == owner ? null : owner.results.get(id);
        if (null == transfer || transfer.totalLength != totalLength)
        {
            return null;
        }
        transfer.done += partLength;
        if (transfer.done >= totalLength)
        {
            owner.results.remove(id);
            end(connection, owner, transfer);
        }
        return transfer.result;
    }

    /** Drops what nobody has touched for long. */
    void expire(final long nowNs)
    {
        if (0 != usedBytes && nextExpiryNs - nowNs <= 0)
        {
            nextExpiryNs = nowNs + MAX_AGE_NS / 10;
            final Iterator<Connection> all = connections.values().iterator();
            while (all.hasNext())
            {
                final Connection owner = all.next();
                expire(owner, owner.uploads, nowNs);
                expire(owner, owner.results, nowNs);
                if (0 == owner.usedBytes)
                {
                    all.remove();
                }
            }
        }
    }

    private void expire(final Connection owner, final Long2ObjectHashMap<Transfer> transfers, final long nowNs)
    {
        final Iterator<Transfer> all = transfers.values().iterator();
        while (all.hasNext())
        {
            final Transfer transfer = all.next();
            if (transfer.expiresAtNs - nowNs <= 0)
            {
                count(owner, -transfer.countedBytes);
                all.remove();
            }
        }
    }

    private boolean hasRoom(final Connection owner, final long neededBytes)
    {
        return usedBytes + neededBytes <= maxBytes &&
            (null == owner ? 0 : owner.usedBytes) + neededBytes <= maxBytes / CONNECTIONS;
    }

    private Connection owner(final long connection)
    {
        Connection owner = connections.get(connection);
        if (null == owner)
        {
            owner = new Connection();
            connections.put(connection, owner);
        }
        return owner;
    }

    private void end(final long connection, final Connection owner, final Transfer transfer)
    {
        count(owner, -transfer.countedBytes);
        if (0 == owner.usedBytes)
        {
            connections.remove(connection);
        }
    }

    private void count(final Connection owner, final int bytes)
    {
        owner.usedBytes += bytes;
        usedBytes += bytes;
    }
}
