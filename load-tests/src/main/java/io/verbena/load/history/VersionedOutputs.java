package io.verbena.load.history;

import io.verbena.client.DeleteResult;
import io.verbena.client.KvEntry;
import io.verbena.client.PutResult;
import io.verbena.client.ReplaceResult;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * Results of operations of one client as outputs of elle's model {@code versioned-kv-map}. Remembers the version of
 * each key that the client saw last, for its next conditional write. Not thread-safe.
 */
public final class VersionedOutputs
{
    /** That a client writes on which has seen none. */
    private static final long FIRST_VERSION = 1;

    private final long[] lastVersions;
    private final ToLongFunction<KvEntry> valueOf;

    /**
     * @param keys    of the client; each has an index below that.
     * @param valueOf the number that was written in a record; called for each record that is read.
     */
    public VersionedOutputs(final int keys, final ToLongFunction<KvEntry> valueOf)
    {
        lastVersions = new long[keys];
        Arrays.fill(lastVersions, FIRST_VERSION);
        this.valueOf = valueOf;
    }

    /**
     * @param key its index.
     * @return version that was seen last of it, 1 for none.
     */
    public long lastVersion(final int key)
    {
        return lastVersions[key];
    }

    /**
     * Output of a get.
     *
     * @param key   its index.
     * @param entry that was found.
     * @return value and version; null: there was no record.
     */
    public Object ofGet(final int key, final Optional<KvEntry> entry)
    {
        if (entry.isEmpty())
        {
            return null;
        }
        return List.of(valueOf.applyAsLong(entry.get()), ofPut(key, entry.get().version()));
    }

    /**
     * Output of a put.
     *
     * @param key     its index.
     * @param version that was stored.
     * @return the version.
     */
    public long ofPut(final int key, final long version)
    {
        lastVersions[key] = version;
        return version;
    }

    /**
     * Output of a put-if-absent.
     *
     * @param key    its index.
     * @param result of it.
     * @return the version that was stored, or false and the one that was there.
     */
    public Object ofPutIfAbsent(final int key, final PutResult result)
    {
        final long version = ofPut(key, result.version());
        return result.stored() ? (Object)version : List.of(false, version);
    }

    /**
     * Output of a replace by version.
     *
     * @param key    its index.
     * @param result of it.
     * @return the version that was stored, or false and the one that was there, null for none.
     */
    public Object ofReplace(final int key, final ReplaceResult result)
    {
        return switch (result.outcome())
        {
            case REPLACED -> ofPut(key, result.version());
            case NOT_FOUND -> Arrays.asList(false, null);
            case VERSION_MISMATCH -> List.of(false, ofPut(key, result.version()));
        };
    }

    /**
     * Output of a delete by version.
     *
     * @param key    its index.
     * @param result of it.
     * @return true, or false and the version that was there, null for none.
     */
    public Object ofDelete(final int key, final DeleteResult result)
    {
        return switch (result.outcome())
        {
            case DELETED -> true;
            case NOT_FOUND -> Arrays.asList(false, null);
            case VERSION_MISMATCH -> List.of(false, ofPut(key, result.version()));
        };
    }
}
