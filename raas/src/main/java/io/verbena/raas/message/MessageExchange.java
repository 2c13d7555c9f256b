package io.verbena.raas.message;

import io.verbena.raas.completion.Numbers;
import io.verbena.raas.completion.RequestId;

/**
 * The rules by which two ends exchange messages over a queue pair that is not theirs alone: pairing, credits, and an
 * end that both know of.
 *
 * <p>An end that closes sends CLOSE behind its last message and takes no more; the other one answers with its own. What
 * an end holds, its number and its receives, is free when it has sent and got CLOSE, or the queue pair is closed: so
 * nothing comes late for another one with the same index, and no message is without a receive.
 */
public final class MessageExchange implements MessageReceiver
{
    private final MessageTable table;
    private final MessageEvents events;
    private final int creditsGiven;
    private final MessageCredits credits;
    private final HeldMessages held;
    private final int number;
    private MessageLink link;
    private Object queuePair;
    private MessageState state = MessageState.OPENING;
    private String failure = "";
    private int peerNumber;
    private int creditsDue;
    private boolean isPaired;
    private boolean isBroken;
    private boolean isAwaited;
    private boolean isCloseSent;
    private boolean isPeerClosed;
    private boolean isEndReported;
    private boolean isGone;

    /**
     * Takes a number, which is {@link RequestId#CALLS} when there is none left: then it is of no use.
     *
     * @param creditsGiven to the other end.
     */
    public MessageExchange(final MessageTable table, final int creditsGiven, final MessageEvents events)
    {
        this.table = table;
        this.creditsGiven = creditsGiven;
        this.events = events;
        credits = new MessageCredits(creditsGiven);
        held = new HeldMessages(creditsGiven);
        number = table.add(this);
    }

    /** Before anything else. */
    public void begin(final MessageLink newLink)
    {
        link = newLink;
        await();
    }

    /** Receives that it needs on its queue pair. */
    public int receives()
    {
        return creditsGiven + MessageCredits.CONTROL_RECEIVES;
    }

    /** It has its receives on this queue pair, over which its other end is. */
    public void bind(final Object newQueuePair)
    {
        queuePair = newQueuePair;
    }

    /** The other end is known; this end opens by the next poll. */
    public void pair(final int newPeerNumber, final int creditsGot)
    {
        isPaired = true;
        peerNumber = newPeerNumber;
        credits.open(creditsGot);
        await();
    }

    public int number()
    {
        return number;
    }

    public MessageState state()
    {
        return state;
    }

    public String failure()
    {
        return failure;
    }

    public boolean isBroken()
    {
        return isBroken;
    }

    /** Messages kept here. */
    public int kept()
    {
        return held.size();
    }

    /** Messages that can be sent now, as far as the other end goes. */
    public int space()
    {
        return state == MessageState.OPEN ? credits.toSend() : 0;
    }

    /** A message was posted. */
    public void onPosted()
    {
        credits.onSent();
        table.onSent();
    }

    /** The immediate of a message to the other end. */
    public int immediate(final int kind)
    {
        return MessageImmediateDescriptor.encode(kind, Numbers.generation(peerNumber), Numbers.index(peerNumber));
    }

    /** A message that was kept is done with; false when there was none. */
    public boolean release(final int message)
    {
        final boolean isHeld = held.remove(message);
        if (isHeld)
        {
            done(message);
        }
        return isHeld;
    }

    /** The receive is posted before the other end has the credit for it. */
    private void done(final int slot)
    {
        link.receives().post(slot);
        if (state == MessageState.OPEN && credits.onConsumed())
        {
            creditsDue++;
            sendCredits();
        }
        if (creditsDue > 0 || state != MessageState.OPEN)
        {
            await();
        }
    }

    private void sendCredits()
    {
        while (creditsDue > 0 && link.sendControl(immediate(MessageImmediateDescriptor.KIND_CREDIT)))
        {
            creditsDue--;
        }
    }

    /** To be polled until it says otherwise. */
    private void await()
    {
        if (!isAwaited && !isGone)
        {
            isAwaited = true;
            table.await(this);
        }
    }

    /** Its user wants no more of it: nothing is reported from now on. */
    public void close()
    {
        state = MessageState.CLOSED;
        await();
    }

    /** It is over, and its user has to know. */
    public void end(final String reason)
    {
        if (state == MessageState.OPENING || state == MessageState.OPEN)
        {
            state = MessageState.ENDED;
            failure = reason;
        }
        await();
    }

    @Override
    public boolean isOver(final Object overQueuePair)
    {
        return queuePair == overQueuePair;
    }

    @Override
    public boolean onArrived(final int kind, final int slot, final int lengthBytes)
    {
        if (isPeerClosed || !isPaired)
        {
            return false;
        }
        if (kind == MessageImmediateDescriptor.KIND_CREDIT)
        {
            // Before the credits are used: the other end counts on it.
            link.receives().post(slot);
            if (!credits.onReturned())
            {
                link.breakProtocol("the peer gave back credits for messages that it never had");
            }
        }
        else if (kind == MessageImmediateDescriptor.KIND_CLOSE)
        {
            link.receives().post(slot);
            isPeerClosed = true;
            end("the other end has closed");
        }
        else if (credits.onArrived())
        {
            return deliver(kind, slot, lengthBytes);
        }
        else
        {
            link.receives().post(slot);
            link.breakProtocol("the peer sent more messages than it has credits: " + creditsGiven);
        }
        return true;
    }

    /** Returns false when nobody hears of messages any more. */
    private boolean deliver(final int kind, final int slot, final int lengthBytes)
    {
        if (state == MessageState.OPENING)
        {
            // The other end was faster than the next poll.
            open();
        }
        if (state != MessageState.OPEN)
        {
            return false;
        }
        held.add(slot);
        table.onReceived();
        boolean isDone = true;
        try
        {
            final Receives receives = link.receives();
            isDone = kind == MessageImmediateDescriptor.KIND_MESSAGE ?
                events.onMessage(slot, receives.buffer(slot), receives.offset(slot), lengthBytes) :
                events.onWrite(slot, kind - MessageImmediateDescriptor.KIND_WRITE, lengthBytes);
        }
        catch (final RuntimeException ex)
        {
            events.onError(ex);
        }
        if (isDone)
        {
            // Unless it was released meanwhile, or the queue pair closed.
            release(slot);
        }
        return true;
    }

    private void open()
    {
        state = MessageState.OPEN;
        try
        {
            events.onOpened();
        }
        catch (final RuntimeException ex)
        {
            events.onError(ex);
        }
    }

    @Override
    public void onSendComplete()
    {
        link.onSendComplete();
    }

    @Override
    public void onQueuePairClosed()
    {
        isBroken = true;
        held.clear();
        end("the connection broke");
        link.onQueuePairClosed(failure);
    }

    @Override
    public void probe()
    {
        if (queuePair != null && !isBroken)
        {
            link.probe();
        }
    }

    @Override
    public void onRefused()
    {
        if (link.isRefused())
        {
            end("the other end is refused");
        }
    }

    @Override
    public boolean poll(final long nowNs)
    {
        if (state == MessageState.OPENING && isPaired)
        {
            open();
        }
        else if (state == MessageState.OPENING)
        {
            link.open(nowNs);
        }
        else if (state == MessageState.OPEN)
        {
            sendCredits();
        }
        if (isOver())
        {
            finish();
        }
        isAwaited = !isGone && (state == MessageState.OPENING || creditsDue > 0 ||
            isOver() && (link.outstanding() > 0 || isPaired && !isCloseSent));
        return isAwaited;
    }

    private boolean isOver()
    {
        return state == MessageState.ENDED || state == MessageState.CLOSED;
    }

    /** Goes on with ending, as far as it can now. */
    private void finish()
    {
        creditsDue = 0;
        while (state == MessageState.CLOSED && held.size() > 0)
        {
            link.receives().post(held.removeAny());
        }
        link.reportLost();
        if (link.outstanding() > 0 || isGone)
        {
            return;
        }
        if (isPaired && !isBroken && !isCloseSent)
        {
            isCloseSent = link.sendControl(immediate(MessageImmediateDescriptor.KIND_CLOSE));
        }
        if (isBroken || !isPaired && !link.isAsking() || isCloseSent && isPeerClosed && held.size() == 0)
        {
            isGone = true;
            table.remove(number);
            if (queuePair != null && !isBroken)
            {
                link.receives().release(receives());
            }
            link.close();
        }
        if (state == MessageState.ENDED && !isEndReported)
        {
            isEndReported = true;
            reportEnd();
        }
    }

    private void reportEnd()
    {
        try
        {
            events.onEnded(failure);
        }
        catch (final RuntimeException ex)
        {
            events.onError(ex);
        }
    }

    @Override
    public String toString()
    {
        return "MessageExchange{number=0x" + Integer.toHexString(number) + " peerNumber=0x" +
            Integer.toHexString(peerNumber) + " state=" + state + " space=" + space() + " kept=" + kept() +
            " outstanding=" + link.outstanding() + (isPaired ? " paired" : "") + (isBroken ? " broken" : "") +
            (isCloseSent ? " closed" : "") + (isPeerClosed ? " closedByOther" : "") + (isGone ? " gone" : "") +
            (failure.isEmpty() ? "" : " failure=" + failure) + '}';
    }
}
