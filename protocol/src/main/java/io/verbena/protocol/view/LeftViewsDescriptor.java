package io.verbena.protocol.view;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Views that a node has left, or that a memory node has closed, in a message behind its header; little-endian.
 *
 * <pre>
 *   0 +---------------+---------------+
 *     |  after group  |     count     |
 *   8 +---------------+---------------+
 *     | { number 8, group 4,          |
 *     |   reserved 4 } ...            |
 * </pre>
 */
public final class LeftViewsDescriptor
{
    /** Most of them in one message. */
    public static final int MAX_VIEWS = 250;

    static final int AFTER_GROUP_OFFSET = 0;
    static final int COUNT_OFFSET = AFTER_GROUP_OFFSET + Integer.BYTES;
    static final int VIEWS_OFFSET = COUNT_OFFSET + Integer.BYTES;
    static final int VIEW_NUMBER_OFFSET = 0;
    static final int VIEW_GROUP_OFFSET = VIEW_NUMBER_OFFSET + Long.BYTES;
    static final int VIEW_RESERVED_OFFSET = VIEW_GROUP_OFFSET + Integer.BYTES;
    static final int VIEW_LENGTH_BYTES = VIEW_RESERVED_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private LeftViewsDescriptor()
    {
    }

    /**
     * Writes them.
     *
     * @param left       at most {@link #MAX_VIEWS}.
     * @param afterGroup of a request for views: those of groups behind this one are asked for; else 0.
     * @param buffer     of the message.
     * @param offset     where they begin.
     * @return their length.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when there are more.
     */
    public static int encode(
        final List<LeftView> left, final int afterGroup, final MutableDirectBuffer buffer, final int offset)
    {
        checkCount(left.size());
        buffer.putInt(offset + AFTER_GROUP_OFFSET, afterGroup, ORDER);
        buffer.putInt(offset + COUNT_OFFSET, left.size(), ORDER);
        int at = offset + VIEWS_OFFSET;
        for (final LeftView view : left)
        {
            buffer.putLong(at + VIEW_NUMBER_OFFSET, view.number(), ORDER);
            buffer.putInt(at + VIEW_GROUP_OFFSET, view.group(), ORDER);
            buffer.putInt(at + VIEW_RESERVED_OFFSET, 0, ORDER);
            at += VIEW_LENGTH_BYTES;
        }
        return at - offset;
    }

    /**
     * Reads them.
     *
     * @param buffer      of the message.
     * @param offset      where they begin.
     * @param lengthBytes of the message from there on.
     * @return them; a new list.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when there are none.
     */
    public static List<LeftView> decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ViewDescriptor.require(lengthBytes, VIEWS_OFFSET, "views that were left");
        final int count = buffer.getInt(offset + COUNT_OFFSET, ORDER);
        checkCount(count);
        ViewDescriptor.require(lengthBytes, VIEWS_OFFSET + count * VIEW_LENGTH_BYTES, "views that were left");
        final List<LeftView> left = new ArrayList<>(count);
        for (int i = 0; i < count; i++)
        {
            final int at = offset + VIEWS_OFFSET + i * VIEW_LENGTH_BYTES;
            final LeftView view = new LeftView(
                buffer.getInt(at + VIEW_GROUP_OFFSET, ORDER), buffer.getLong(at + VIEW_NUMBER_OFFSET, ORDER));
            if (view.group() < 1 || view.number() < 0)
            {
                throw ViewDescriptor.invalid("no view that can be left: " + view);
            }
            left.add(view);
        }
        return left;
    }

    /**
     * @param buffer of the message, that was {@linkplain #decode decoded}.
     * @param offset where they begin.
     * @return behind which group views are asked for.
     */
    public static int afterGroup(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + AFTER_GROUP_OFFSET, ORDER);
    }

    private static void checkCount(final int count)
    {
        if (count < 0 || count > MAX_VIEWS)
        {
            throw ViewDescriptor.invalid(count + " views in one message, the limit is " + MAX_VIEWS);
        }
    }
}
