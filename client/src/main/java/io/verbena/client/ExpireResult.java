package io.verbena.client;

/**
 * What {@link ExpiringRecords#expire(byte[], Expiry, Expiry.Condition)} did.
 *
 * @param outcome what happened.
 * @param version when CHANGED the new version; when CONDITION_NOT_MET the version found; when NOT_FOUND 0.
 */
public record ExpireResult(Outcome outcome, long version)
{
    /** The cases. */
    public enum Outcome
    {
        /** The record has the deadline now. */
        CHANGED,
        /** There was no record. */
        NOT_FOUND,
        /** The condition on the record's deadline did not hold; nothing was changed. */
        CONDITION_NOT_MET
    }

    /** {@return true when the record has the new deadline} */
    public boolean changed()
    {
        return outcome == Outcome.CHANGED;
    }
}
