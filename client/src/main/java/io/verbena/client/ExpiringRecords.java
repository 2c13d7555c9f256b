package io.verbena.client;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The operations on records that live until a deadline. A write that says nothing of it makes a record without one, or
 * clears the one there was; {@link KvTable#increment} and {@link KvTable#append} keep it.
 *
 * <h2>Clock</h2>
 * A deadline is an instant of the wall clock, in milliseconds, and each compute node judges by its own. A record is
 * there until some node finds its deadline passed, and from then on it is absent for everybody: nobody reads it after
 * another one found it gone. As far as the clocks of the compute nodes agree, that happens at its deadline; a node
 * whose clock is behind may read it so much longer, if no other node asks for it meanwhile. A record that is absent
 * in this way is absent in every other: it can be put if absent, has no version, and is not scanned.
 *
 * <p>Each call has the timeout of the table's handle, and the exceptions of {@link KvTable}.
 */
public interface ExpiringRecords
{
    /**
     * What {@link #expire(byte[], Expiry, Expiry.Condition)} did.
     *
     * @param outcome what happened.
     * @param version when CHANGED the new version; when CONDITION_NOT_MET the version found; when NOT_FOUND 0.
     */
    record ExpireResult(Outcome outcome, long version)
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

    /**
     * Writes a record with a deadline, whether there was one or not.
     *
     * @param key    to write.
     * @param value  its new value.
     * @param expiry until when it lives.
     * @return its new version.
     * @see KvTable#put(byte[], byte[])
     */
    long put(byte[] key, byte[] value, Expiry expiry);

    /**
     * As {@link #put(byte[], byte[], Expiry)}, later.
     *
     * @param key    to write.
     * @param value  its new value.
     * @param expiry until when it lives.
     * @return future of its new version.
     */
    CompletableFuture<Long> putAsync(byte[] key, byte[] value, Expiry expiry);

    /**
     * Writes a record with a deadline if there is none.
     *
     * @param key    to write.
     * @param value  its new value.
     * @param expiry until when it lives.
     * @return whether it was stored.
     * @see KvTable#putIfAbsent(byte[], byte[])
     */
    PutResult putIfAbsent(byte[] key, byte[] value, Expiry expiry);

    /**
     * As {@link #putIfAbsent(byte[], byte[], Expiry)}, later.
     *
     * @param key    to write.
     * @param value  its new value.
     * @param expiry until when it lives.
     * @return future of whether it was stored.
     */
    CompletableFuture<PutResult> putIfAbsentAsync(byte[] key, byte[] value, Expiry expiry);

    /**
     * Writes a record with a deadline if there is one, whatever its version.
     *
     * @param key    to write.
     * @param value  its new value.
     * @param expiry until when it lives.
     * @return what happened; never a version mismatch.
     * @see KvTable#replace(byte[], byte[])
     */
    ReplaceResult replace(byte[] key, byte[] value, Expiry expiry);

    /**
     * As {@link #replace(byte[], byte[], Expiry)}, later.
     *
     * @param key    to write.
     * @param value  its new value.
     * @param expiry until when it lives.
     * @return future of what happened; never a version mismatch.
     */
    CompletableFuture<ReplaceResult> replaceAsync(byte[] key, byte[] value, Expiry expiry);

    /**
     * Writes a record with a deadline if its version is the expected one.
     *
     * @param key    to write.
     * @param value  its new value.
     * @param expectedVersion as a read or a write returned it.
     * @param expiry until when it lives.
     * @return what happened.
     * @see KvTable#replace(byte[], byte[], long)
     */
    ReplaceResult replace(byte[] key, byte[] value, long expectedVersion, Expiry expiry);

    /**
     * As {@link #replace(byte[], byte[], long, Expiry)}, later.
     *
     * @param key    to write.
     * @param value  its new value.
     * @param expectedVersion as a read or a write returned it.
     * @param expiry until when it lives.
     * @return future of what happened.
     */
    CompletableFuture<ReplaceResult> replaceAsync(byte[] key, byte[] value, long expectedVersion, Expiry expiry);

    /**
     * Gives a record that is there another deadline, and a new version; its value stays.
     *
     * @param key       of the record.
     * @param expiry    until when it lives; {@link Expiry#KEEP} makes a new version and nothing else.
     * @param condition on which it is changed.
     * @return what happened.
     * @throws KvOutcomeUnknownException when it may have been applied.
     * @throws KvOutOfMemoryException    when the memory nodes have no room for the record's new form.
     */
    ExpireResult expire(byte[] key, Expiry expiry, Expiry.Condition condition);

    /**
     * As {@link #expire(byte[], Expiry, Expiry.Condition)}, later.
     *
     * @param key       of the record.
     * @param expiry    until when it lives.
     * @param condition on which it is changed.
     * @return future of what happened.
     */
    CompletableFuture<ExpireResult> expireAsync(byte[] key, Expiry expiry, Expiry.Condition condition);

    /**
     * Lets a record live until it is deleted.
     *
     * @param key of the record.
     * @return true if it had a deadline, false if it had none or there is no record.
     * @throws KvOutcomeUnknownException when it may have been applied.
     * @throws KvOutOfMemoryException    when the memory nodes have no room for the record's new form.
     */
    boolean persist(byte[] key);

    /**
     * As {@link #persist(byte[])}, later.
     *
     * @param key of the record.
     * @return future of true if it had a deadline.
     */
    CompletableFuture<Boolean> persistAsync(byte[] key);

    /**
     * Tells how long a record lives on.
     *
     * @param key of the record.
     * @return its time, or empty when there is no record.
     */
    Optional<Expiry.TimeToLive> timeToLive(byte[] key);

    /**
     * As {@link #timeToLive(byte[])}, later.
     *
     * @param key of the record.
     * @return future of its time, or empty when there is no record.
     */
    CompletableFuture<Optional<Expiry.TimeToLive>> timeToLiveAsync(byte[] key);
}
