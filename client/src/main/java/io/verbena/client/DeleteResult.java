package io.verbena.client;

/**
 * What {@link KvTable#delete(byte[], long)} did.
 *
 * @param outcome what happened.
 * @param version when VERSION_MISMATCH the version found instead, at an instant within the call; else 0.
 */
public record DeleteResult(Outcome outcome, long version)
{
    /** The cases. */
    public enum Outcome
    {
        /** The record had the expected version and is gone. */
        DELETED,
        /** There was no record; nothing was changed. */
        NOT_FOUND,
        /** The record had another version; nothing was changed. */
        VERSION_MISMATCH
    }

    /** {@return true when this call deleted the record} */
    public boolean deleted()
    {
        return outcome == Outcome.DELETED;
    }
}
