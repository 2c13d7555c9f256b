package io.verbena.raas.usage;

/**
 * What the message endpoints of a context have done so far. Messages for nobody are not among these, see
 * {@link ContextUsage#droppedMessages()}.
 *
 * @param endpoints open here, or being opened or closed.
 * @param sent      messages and WRITEs with an immediate that they posted.
 * @param received  of those of the other ends, delivered here.
 */
public record MessageUsage(int endpoints, long sent, long received)
{
    /** Of what has none. */
    public static final MessageUsage NONE = new MessageUsage(0, 0, 0);
}
