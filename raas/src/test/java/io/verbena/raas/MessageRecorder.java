package io.verbena.raas;

import org.agrona.DirectBuffer;

import java.util.ArrayList;
import java.util.List;

/** Records what one end of a virtual queue pair hears, and keeps messages while {@link #isKeeping}. */
final class MessageRecorder implements MessageEndpoint.Listener
{
    final List<Long> values = new ArrayList<>();
    final List<String> writes = new ArrayList<>();
    final List<Integer> sent = new ArrayList<>();
    final List<Integer> statuses = new ArrayList<>();
    final List<Integer> kept = new ArrayList<>();
    final List<String> ended = new ArrayList<>();
    MessageEndpoint endpoint;
    boolean isKeeping;

    @Override
    public void onOpened(final MessageEndpoint opened)
    {
        endpoint = opened;
    }

    @Override
    public boolean onMessage(
        final MessageEndpoint from, final int message, final DirectBuffer buffer, final int offset,
        final int lengthBytes)
    {
        values.add(lengthBytes < Long.BYTES ? -lengthBytes : buffer.getLong(offset));
        if (isKeeping)
        {
            kept.add(message);
        }
        return !isKeeping;
    }

    @Override
    public boolean onWrite(final MessageEndpoint from, final int message, final int kind, final int lengthBytes)
    {
        writes.add(kind + ":" + lengthBytes);
        return true;
    }

    @Override
    public void onSent(final MessageEndpoint from, final int cookie, final int status)
    {
        sent.add(cookie);
        statuses.add(status);
    }

    @Override
    public void onEnded(final MessageEndpoint from, final String reason)
    {
        ended.add(reason);
    }
}
