package io.verbena.resp.session;

import io.verbena.resp.codec.MemoryBudget;
import io.verbena.resp.codec.RespWriter;

/**
 * The way of replies to one client: they are written in the order of the commands, sent in parts, and left out where
 * the client has said so by CLIENT REPLY. By the thread of the session.
 */
public final class ReplyStream
{
    /** Replies that are sent before more of them are made, so that a client that does not read is noticed. */
    private static final int SENT_AT_ONCE_BYTES = 64 * 1024;
    /** The command that leaves a reply out, and the one whose reply it is. */
    private static final int SKIPPED_COMMANDS = 2;

    private final Transport transport;
    private final MemoryBudget budget;
    private final int maxOutputBytes;
    private final RespWriter writer;
    private boolean isOff;
    /** Commands, with the present one, whose replies are left out; 0: the present one is not such a one any more. */
    private int skipped;
    private boolean isSkipping;
    private boolean isClosing;

    ReplyStream(final Transport transport, final MemoryBudget budget, final int maxOutputBytes)
    {
        this.transport = transport;
        this.budget = budget;
        this.maxOutputBytes = maxOutputBytes;
        writer = new RespWriter(budget, maxOutputBytes);
    }

    RespWriter writer()
    {
        return writer;
    }

    /** A writer for a part of a reply; closed by the caller. */
    RespWriter spare()
    {
        final RespWriter spare = new RespWriter(budget, maxOutputBytes);
        spare.version(writer.version());
        return spare;
    }

    /** Replies are written again. */
    public void on()
    {
        isOff = false;
        isSkipping = false;
        writer.mute(false);
    }

    /** Neither the present command nor one after it is replied, until {@link #on()}. */
    public void off()
    {
        isOff = true;
        isSkipping = false;
        writer.mute(true);
    }

    /** Neither the present command nor the next one is replied. */
    public void skipNext()
    {
        if (!isOff)
        {
            isSkipping = true;
            skipped = SKIPPED_COMMANDS;
            writer.mute(true);
        }
    }

    /** As for a new connection, but for the reply to the present command. */
    void reset()
    {
        if (isOff)
        {
            on();
        }
    }

    /** The next command has arrived. */
    void onCommand()
    {
        if (isSkipping)
        {
            skipped--;
        }
    }

    /** Whether a command cannot begin before all others are replied: not all of them have a reply. */
    boolean mustWait()
    {
        return isSkipping;
    }

    /** A command begins, all before it are replied if it {@link #mustWait}. */
    void onBegin()
    {
        if (isSkipping && 0 == skipped)
        {
            on();
        }
    }

    /** Sends what is much. */
    void sendMuch()
    {
        if (writer.length() > SENT_AT_ONCE_BYTES && !writer.isOverflown())
        {
            send();
        }
    }

    /**
     * Sends what is there, or closes the connection where it is too much.
     *
     * @param isComplete whether the last reply has been written to its end.
     * @param isLast     whether nothing follows: the connection is closed then.
     */
    void flush(final boolean isComplete, final boolean isLast)
    {
        if (writer.isOverflown())
        {
            transport.close();
            return;
        }
        if (writer.length() > 0 && isComplete)
        {
            send();
        }
        if (isLast && isComplete && !isClosing)
        {
            isClosing = true;
            transport.closeAfterSending();
        }
    }

    private void send()
    {
        transport.send(writer.array(), writer.length());
        writer.clear();
    }

    void close()
    {
        writer.close();
    }
}
