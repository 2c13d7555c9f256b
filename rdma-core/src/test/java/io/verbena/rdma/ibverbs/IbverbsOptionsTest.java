package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.IbverbsOptions.Windows;
import io.verbena.rdma.ibverbs.library.Errno;
import io.verbena.rdma.verbs.RdmaException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class IbverbsOptionsTest
{
    @Test
    void shouldReadWhatFollowsTheColon()
    {
        assertThat(IbverbsOptions.parse("")).isEqualTo(new IbverbsOptions("", 1, -1, "", Windows.PROBE));
        assertThat(IbverbsOptions.parse("rxe0")).isEqualTo(new IbverbsOptions("rxe0", 1, -1, "", Windows.PROBE));
        assertThat(IbverbsOptions.parse("mlx5_0,port=2,gid=3,host=10.0.0.1,windows=off"))
            .isEqualTo(new IbverbsOptions("mlx5_0", 2, 3, "10.0.0.1", Windows.OFF));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rxe0,port=0", "rxe0,gid=256", "rxe0,gid=", "rxe0,mtu=5", "rxe0,", "gid=1",
        "rxe0,host=nowhere", "rxe0,port=-1", "rxe0,windows=yes", "rxe0,windows="})
    void shouldRefuseWhatItDoesNotKnow(final String argument)
    {
        assertThatThrownBy(() -> IbverbsOptions.parse(argument))
            .isInstanceOf(RdmaException.class).hasMessageContaining("DEVICE[,port=N]");
    }

    @Test
    void shouldSayInOneLineWhatIsMissingWhereThereIsNoDevice()
    {
        final String reason = new IbverbsFabricProvider().unavailableReason();
        assumeTrue(reason != null, "this machine has an RDMA device");
        assertThat(reason).doesNotContain("\n").containsAnyOf("install", "load", "modprobe", "allow");
        assertThatThrownBy(() -> new IbverbsFabricProvider().open("rxe0"))
            .isInstanceOf(RdmaException.class).hasMessage(reason);
    }

    @Test
    void shouldTellTheLimitForLockedMemory()
    {
        assertThat(Errno.text(Errno.ENOMEM)).contains("ulimit -l").doesNotContain("unknown");
    }
}
