package io.verbena.raas.message;

/**
 * Credits of one endpoint, in both directions. A receiver gives its credits when the endpoint opens, and then a part of
 * them back at a time, with an empty message: half of them, rounded up. So no more than two such messages are ever
 * under way: the third is due after more messages than the sender could have sent without having taken the first.
 */
public final class MessageCredits
{
    /** Receives that an endpoint needs beyond its credits: two messages with credits, and one that closes. */
    public static final int CONTROL_RECEIVES = 3;
    /** Most credits of a direction. */
    public static final int MAX_CREDITS = 4096;

    private final int givenHere;
    private int givenThere;
    private int toSend;
    private int toArrive;
    private int consumed;

    /** @param givenHere messages that the other end may have under way here at once, 1 or more. */
    public MessageCredits(final int givenHere)
    {
        this.givenHere = givenHere;
        toArrive = givenHere;
    }

    /** How many credits come back with one message, of so many given. */
    public static int returned(final int given)
    {
        return (given + 1) / 2;
    }

    /** The other end gives its credits. */
    public void open(final int givenByOther)
    {
        givenThere = givenByOther;
        toSend = givenByOther;
    }

    /** Messages that can be sent now. */
    public int toSend()
    {
        return toSend;
    }

    public void onSent()
    {
        toSend--;
    }

    /** The other end gives credits back; false when it never had them. */
    public boolean onReturned()
    {
        toSend += returned(givenThere);
        return toSend <= givenThere;
    }

    /** A message came; false when the other end had no credit for it. */
    public boolean onArrived()
    {
        toArrive--;
        return toArrive >= 0;
    }

    /** A message is done with, and its receive is posted again. Returns whether credits are due to the other end. */
    public boolean onConsumed()
    {
        consumed++;
        if (consumed < returned(givenHere))
        {
            return false;
        }
        toArrive += consumed;
        consumed = 0;
        return true;
    }
}
