package io.verbena.client;

/**
 * What {@link KvTable#replace(byte[], byte[], long)} or {@link KvTable#replace(byte[], byte[])} did.
 *
 * @param outcome what happened.
 * @param version when REPLACED the new version; when VERSION_MISMATCH the version found instead, at an instant within
 *                the call; when NOT_FOUND 0.
 */
public record ReplaceResult(Outcome outcome, long version)
{
    /** The cases. */
    public enum Outcome
    {
        /** The record had the expected version, or any, and has the new value now. */
        REPLACED,
        /** There was no record; nothing was changed. */
        NOT_FOUND,
        /** The record had another version; nothing was changed. */
        VERSION_MISMATCH
    }

    /** {@return true when the new value was stored} */
    public boolean replaced()
    {
        return outcome == Outcome.REPLACED;
    }
}
