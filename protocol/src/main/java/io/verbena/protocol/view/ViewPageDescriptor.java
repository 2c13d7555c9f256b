package io.verbena.protocol.view;

import io.verbena.raas.RpcClient;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * A page of views in a message, behind its header; little-endian.
 *
 * <pre>
 *   0 +-------+-------+---------------+
 *     | count | more  |   reserved    |
 *   8 +-------+-------+---------------+
 *     |  views, one behind another... |
 * </pre>
 */
public final class ViewPageDescriptor
{
    static final int COUNT_OFFSET = 0;
    static final int MORE_OFFSET = COUNT_OFFSET + Short.BYTES;
    static final int RESERVED_OFFSET = MORE_OFFSET + Short.BYTES;
    static final int VIEWS_OFFSET = RESERVED_OFFSET + Integer.BYTES;

    /** What a message has room for behind its header of 8 bytes. */
    private static final int MAX_LENGTH_BYTES = RpcClient.MAX_MESSAGE_BYTES - Long.BYTES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private ViewPageDescriptor()
    {
    }

    /**
     * Writes as many views as fit; if not all do, the page says that there are more.
     *
     * @param page   any number of views.
     * @param buffer of the message.
     * @param offset where the page begins.
     * @return its length.
     */
    public static int encode(final ViewPage page, final MutableDirectBuffer buffer, final int offset)
    {
        int at = VIEWS_OFFSET;
        int count = 0;
        for (final View view : page.views())
        {
            if (at + ViewDescriptor.lengthBytes(view) > MAX_LENGTH_BYTES)
            {
                break;
            }
            at += ViewDescriptor.encode(view, buffer, offset + at);
            count++;
        }
        final boolean hasMore = page.hasMore() || count < page.views().size();
        buffer.putShort(offset + COUNT_OFFSET, (short)count, ORDER);
        buffer.putShort(offset + MORE_OFFSET, (short)(hasMore ? 1 : 0), ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
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
    public static ViewPage decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ViewDescriptor.require(lengthBytes, VIEWS_OFFSET, "a page of views");
        final int count = buffer.getShort(offset + COUNT_OFFSET, ORDER) & 0xFFFF;
        final List<View> views = new ArrayList<>();
        int at = VIEWS_OFFSET;
        for (int i = 0; i < count; i++)
        {
            final View view = ViewDescriptor.decode(buffer, offset + at, lengthBytes - at);
            views.add(view);
            at += ViewDescriptor.lengthBytes(view);
        }
        return new ViewPage(views, buffer.getShort(offset + MORE_OFFSET, ORDER) != 0);
    }
}
