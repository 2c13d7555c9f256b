package io.verbena.raas.message;

import org.agrona.DirectBuffer;

/** What a {@link MessageExchange} reports; whatever its methods throw goes to {@link #onError}. */
public interface MessageEvents
{
    void onOpened();

    /** Returns whether the message is done with. */
    boolean onMessage(int message, DirectBuffer buffer, int offset, int lengthBytes);

    /** Returns whether it is done with. */
    boolean onWrite(int message, int kind, int lengthBytes);

    void onSent(int cookie, int status);

    void onEnded(String reason);

    void onError(RuntimeException error);
}
