package io.verbena.client;

/**
 * What became of one entry of an operation on many, such as {@link KvTable#getAll}.
 *
 * @param result  what the operation on this key alone would have returned; null if it failed.
 * @param failure what it would have thrown; null if it did not fail.
 * @param <T>     type of the result.
 */
public record KvOutcome<T>(T result, KvException failure)
{
    /** {@return true if there is a result} */
    public boolean isSuccess()
    {
        return null == failure;
    }

    /**
     * Returns the result, or throws.
     *
     * @return the result.
     * @throws KvException the failure, if there is one.
     */
    public T get()
    {
        if (null != failure)
        {
            throw failure;
        }
        return result;
    }
}
