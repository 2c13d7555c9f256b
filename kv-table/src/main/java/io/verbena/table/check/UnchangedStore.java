package io.verbena.table.check;

/** A store that nobody changes while it is checked: there is nobody to hold up, and nobody to wait for. */
public interface UnchangedStore extends CheckedStore
{
    @Override
    default boolean isLive()
    {
        return false;
    }

    @Override
    default void hold()
    {
        // nobody changes anything
    }

    @Override
    default void release()
    {
        // see above
    }

    @Override
    default boolean awaitOthers()
    {
        return true;
    }
}
