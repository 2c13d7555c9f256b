package io.verbena.rdma.ibverbs.library;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;

/** Looks for the library before {@link Libibverbs} is initialised, which needs it. */
public final class LibraryCheck
{
    private LibraryCheck()
    {
    }

    /** @return null when the library can be used, else why not and what to do. */
    @SuppressWarnings("restricted")
    public static String problem()
    {
        final String remedy = "install it (Debian, Ubuntu: libibverbs1 ibverbs-providers; others: rdma-core)";
        try
        {
            final SymbolLookup lookup = SymbolLookup.libraryLookup(Libibverbs.LIBRARY, Arena.global());
            return lookup.find("_ibv_query_gid_ex").isPresent() ?
                null : Libibverbs.LIBRARY + " is older than version 32 of rdma-core: " + remedy;
        }
        catch (final IllegalArgumentException | UnsatisfiedLinkError ex)
        {
            return Libibverbs.LIBRARY + " is not installed: " + remedy;
        }
    }
}
