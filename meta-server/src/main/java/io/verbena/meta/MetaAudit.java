package io.verbena.meta;

/**
 * Takes what is to be known later: who joined and left, who was refused, and who changed what. Called by the server's
 * thread, after what it is about is durable; does not throw. No secret and no record is ever part of it.
 */
public interface MetaAudit
{
    /** Event of what a compute node did not carry out for want of a right. */
    String DENIED = "denied";

    /** Keeps nothing. */
    MetaAudit NONE = (event, by, subject) ->
    {
        // as it says
    };

    /**
     * Takes an event.
     *
     * @param event   what happened: {@code joined}, {@code ended}, {@code refused}, or the name of a request.
     * @param by      who did it, as proved; empty for the server itself.
     * @param subject what it is about, one line.
     */
    void record(String event, String by, String subject);
}
