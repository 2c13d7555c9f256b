package io.verbena.raas.message;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.MemoryRegion;

/**
 * What one end of a virtual queue pair offers to the other when it opens for messages. Read once; not thread-safe. By
 * default 8 credits, service 0 and no memory.
 */
public final class MessageOptions
{
    private int credits = 8;
    private int service;
    private PeerIdentity identity;
    private MemoryRegion granted;
    private long grantedOffset;
    private long grantedLengthBytes;

    /** Defaults. */
    public MessageOptions()
    {
    }

    /** @return a copy that nobody else changes. */
    public MessageOptions copy()
    {
        final MessageOptions copy = new MessageOptions().credits(credits).service(service).identity(identity);
        return copy.grants(granted, grantedOffset, grantedLengthBytes);
    }

    /** @return messages that the other end may have under way here at once. */
    public int credits()
    {
        return credits;
    }

    /**
     * @param messages that the other end may have under way here at once, those that are kept included; 1 to
     *                 {@link MessageCredits#MAX_CREDITS}, and within what the queue pair has receives for. Default 8.
     * @return this.
     */
    public MessageOptions credits(final int messages)
    {
        credits = messages;
        return this;
    }

    /** @return what is asked for. */
    public int service()
    {
        return service;
    }

    /**
     * @param number of what the peer is asked for: its meaning is the peer's. Default 0; not looked at where an end is
     *               accepted.
     * @return this.
     */
    public MessageOptions service(final int number)
    {
        service = number;
        return this;
    }

    /** @return for whom the end acts; null for the identity of the connection. */
    public PeerIdentity identity()
    {
        return identity;
    }

    /**
     * @param actsFor one of the identities that were proved or given over the connection: when the peer refuses that
     *                one, this end is closed, and others over the same queue pair are not. Default: the identity of the
     *                connection; not looked at where an end is accepted.
     * @return this.
     */
    public MessageOptions identity(final PeerIdentity actsFor)
    {
        identity = actsFor;
        return this;
    }

    /**
     * Memory that the other end may write to. Its key alone admits, so that closing the region is what takes it away.
     *
     * @param region      with the right REMOTE_WRITE; outlives the end.
     * @param offset      first byte.
     * @param lengthBytes 1 or more, within the region.
     * @return this.
     */
    public MessageOptions grants(final MemoryRegion region, final long offset, final long lengthBytes)
    {
        granted = region;
        grantedOffset = offset;
        grantedLengthBytes = lengthBytes;
        return this;
    }

    /** @return memory that the other end may write to, or a part of it; null for none. */
    public MemoryRegion granted()
    {
        return granted;
    }

    /** @return its first byte in the region. */
    public long grantedOffset()
    {
        return grantedOffset;
    }

    /** @return its length; 0 for none. */
    public long grantedLengthBytes()
    {
        return grantedLengthBytes;
    }

    long grantedAddress()
    {
        return granted == null ? 0 : granted.address() + grantedOffset;
    }

    int grantedKey()
    {
        return granted == null ? 0 : granted.remoteKey();
    }
}
