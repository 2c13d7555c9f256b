package io.verbena.protocol.remote;

/** A message that does not hold what its method needs; the text names the value, and goes to the sender. */
final class MalformedRequestException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    MalformedRequestException(final String message)
    {
        super(message);
    }

    /** Throws unless a message has at least so many bytes. */
    static void require(final int lengthBytes, final int neededBytes, final String what)
    {
        if (neededBytes < 0 || lengthBytes < neededBytes)
        {
            throw new MalformedRequestException(what + " of " + lengthBytes + " bytes, needs " + neededBytes);
        }
    }

    /** Throws unless a value lies within its bounds. */
    static void requireRange(final String name, final long value, final long least, final long most)
    {
        if (value < least || value > most)
        {
            throw new MalformedRequestException(name + "=" + value + " must be " + least + " to " + most);
        }
    }

    /** Throws unless a code stands for something here. */
    static void requireKnown(final String name, final int code, final Object meaning)
    {
        if (null == meaning)
        {
            throw new MalformedRequestException(
                name + " has code " + code + ", which this version does not know: update the older of the two");
        }
    }
}
