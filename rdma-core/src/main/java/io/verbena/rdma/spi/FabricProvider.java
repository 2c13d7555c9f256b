package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.Fabric;

/** Makes fabrics of one kind; found with {@link java.util.ServiceLoader}. */
public interface FabricProvider
{
    /** @return first part of the names it takes, such as {@code soft}. */
    String name();

    /** @return what follows the colon of a name, in words for {@code --help}, such as {@code DIRECTORY}. */
    String argumentSyntax();

    /**
     * Tells providers of one name apart.
     *
     * @param argument what follows the colon of a name; empty without one.
     * @return whether it is this one that opens such a fabric, or says what is wrong with the argument.
     */
    default boolean takes(final String argument)
    {
        return true;
    }

    /** @return null when it can be used here; else why not and what to do, in one line. */
    String unavailableReason();

    /**
     * Opens a fabric.
     *
     * @param argument what follows the colon of the name; empty without one.
     * @return the fabric, closed by the caller.
     * @throws io.verbena.rdma.verbs.RdmaException when it cannot be had; one line that says what to do.
     */
    Fabric open(String argument);

    /**
     * As {@link #open(String)}, by a process of a role; where no peer ever delays another one, the same.
     *
     * @param role what this process is to its peers.
     */
    default Fabric open(final String argument, final ProcessRole role)
    {
        return open(argument);
    }

    /**
     * Does what it needs once a process and what takes long, so that opening a fabric takes less; nothing where there
     * is no such thing. Any thread, also beside an opening.
     */
    default void prepare()
    {
        // most have nothing to prepare
    }
}
