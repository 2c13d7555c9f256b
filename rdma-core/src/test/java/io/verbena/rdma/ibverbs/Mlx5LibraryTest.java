package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.Mlx5Library;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.util.NoSuchElementException;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

@SuppressWarnings("restricted")
class Mlx5LibraryTest
{
    @Test
    void shouldFindItsFunctionsInTheLibraryThatIsInstalled()
    {
        try
        {
            SymbolLookup.libraryLookup(Mlx5Library.LIBRARY, Arena.global());
        }
        catch (final IllegalArgumentException ex)
        {
            assumeTrue(false, "no " + Mlx5Library.LIBRARY + ": install ibverbs-providers");
        }
        assertThat(Mlx5Library.open()).isNotNull();
    }

    @Test
    void shouldNameTheFunctionThatAnOlderLibraryLacks()
    {
        assertThatThrownBy(() -> new Mlx5Library(name -> Optional.empty(), name -> Optional.empty()))
            .isInstanceOf(NoSuchElementException.class).hasMessageContaining("mlx5dv_is_supported");
    }
}
