package io.verbena.protocol.view;

import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.message.FailureDomainPage;
import io.verbena.raas.RpcClient;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * A page of failure domains, and the request for one, in messages, behind their headers; little-endian.
 *
 * <pre>
 *  request                               reply
 *   0 +---------------+---------------+   0 +-------+-------+---------------+
 *     | after node id |   reserved    |     | count | more  |   reserved    |
 *   8 +---------------+---------------+   8 +-------+-------+---------------+
 *                                           |    node id    | label (64)... |
 *                                        76 +---------------+---------------+
 * </pre>
 */
public final class FailureDomainPageDescriptor
{
    static final int AFTER_NODE_OFFSET = 0;
    static final int REQUEST_RESERVED_OFFSET = AFTER_NODE_OFFSET + Integer.BYTES;
    static final int REQUEST_LENGTH_BYTES = REQUEST_RESERVED_OFFSET + Integer.BYTES;

    static final int COUNT_OFFSET = 0;
    static final int MORE_OFFSET = COUNT_OFFSET + Short.BYTES;
    static final int RESERVED_OFFSET = MORE_OFFSET + Short.BYTES;
    static final int DOMAINS_OFFSET = RESERVED_OFFSET + Integer.BYTES;
    static final int DOMAIN_NODE_OFFSET = 0;
    static final int DOMAIN_LABEL_OFFSET = DOMAIN_NODE_OFFSET + Integer.BYTES;
    static final int DOMAIN_LENGTH_BYTES = DOMAIN_LABEL_OFFSET + FailureDomainDescriptor.LENGTH_BYTES;

    /** What fits a message behind its header of 8 bytes. */
    private static final int MAX_DOMAINS =
        (RpcClient.MAX_MESSAGE_BYTES - Long.BYTES - DOMAINS_OFFSET) / DOMAIN_LENGTH_BYTES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private FailureDomainPageDescriptor()
    {
    }

    /**
     * Writes a request.
     *
     * @param afterNodeId memory nodes with greater ids are asked for.
     * @param buffer      of the message.
     * @param offset      where the request begins.
     * @return its length.
     */
    public static int encodeRequest(final int afterNodeId, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.putInt(offset + AFTER_NODE_OFFSET, afterNodeId, ORDER);
        buffer.putInt(offset + REQUEST_RESERVED_OFFSET, 0, ORDER);
        return REQUEST_LENGTH_BYTES;
    }

    /**
     * Reads a request.
     *
     * @param buffer      of the message.
     * @param offset      where the request begins.
     * @param lengthBytes of the message from there on.
     * @return the id behind which memory nodes are asked for.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when it is too short.
     */
    public static int decodeRequest(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ViewDescriptor.require(lengthBytes, REQUEST_LENGTH_BYTES, "a request for failure domains");
        return buffer.getInt(offset + AFTER_NODE_OFFSET, ORDER);
    }

    /**
     * Writes as many as fit; if not all do, the page says that there are more.
     *
     * @param page   any number of failure domains.
     * @param buffer of the message.
     * @param offset where the page begins.
     * @return its length.
     */
    public static int encode(final FailureDomainPage page, final MutableDirectBuffer buffer, final int offset)
    {
        final int count = Math.min(MAX_DOMAINS, page.domains().size());
        final boolean hasMore = page.hasMore() || count < page.domains().size();
        buffer.putShort(offset + COUNT_OFFSET, (short)count, ORDER);
        buffer.putShort(offset + MORE_OFFSET, (short)(hasMore ? 1 : 0), ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
        int at = DOMAINS_OFFSET;
        for (final FailureDomain domain : page.domains().subList(0, count))
        {
            buffer.putInt(offset + at + DOMAIN_NODE_OFFSET, domain.nodeId(), ORDER);
            FailureDomainDescriptor.encode(domain.label(), buffer, offset + at + DOMAIN_LABEL_OFFSET);
            at += DOMAIN_LENGTH_BYTES;
        }
        return at;
    }

    /**
     * Reads a page.
     *
     * @param buffer      of the message.
     * @param offset      where the page begins.
     * @param lengthBytes of the message from there on.
     * @return the page.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when there is none.
     */
    public static FailureDomainPage decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ViewDescriptor.require(lengthBytes, DOMAINS_OFFSET, "a page of failure domains");
        final int count = buffer.getShort(offset + COUNT_OFFSET, ORDER) & 0xFFFF;
        ViewDescriptor.require(lengthBytes, DOMAINS_OFFSET + count * DOMAIN_LENGTH_BYTES, "a page of failure domains");
        final List<FailureDomain> domains = new ArrayList<>(count);
        try
        {
            for (int i = 0; i < count; i++)
            {
                final int at = offset + DOMAINS_OFFSET + i * DOMAIN_LENGTH_BYTES;
                domains.add(new FailureDomain(buffer.getInt(at + DOMAIN_NODE_OFFSET, ORDER),
                    FailureDomainDescriptor.decode(buffer, at + DOMAIN_LABEL_OFFSET)));
            }
        }
        catch (final IllegalArgumentException ex)
        {
            throw ViewDescriptor.invalid(ex.getMessage());
        }
        return new FailureDomainPage(domains, buffer.getShort(offset + MORE_OFFSET, ORDER) != 0);
    }
}
