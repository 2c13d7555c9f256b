package io.verbena.client.routing;

import io.verbena.client.KvClientOptions;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.verbs.DeviceAddress;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What the environment says of encryption. */
class EncryptVariableTest
{
    @Test
    void shouldEncryptWhereItIsTrue()
    {
        assertThat(RemoteKvClient.isTrue("true")).isTrue();
        assertThat(RemoteKvClient.isTrue("TRUE")).isTrue();
        assertThat(RemoteKvClient.isTrue("false")).isFalse();
        assertThat(RemoteKvClient.isTrue(null)).isFalse();
    }

    /** Who writes yes means it: in clear would be the wrong answer. */
    @ParameterizedTest
    @ValueSource(strings = {"yes", "1", "on", "tru", " true"})
    void shouldRefuseWhatIsNeither(final String value)
    {
        assertThatThrownBy(() -> RemoteKvClient.isTrue(value)).isInstanceOf(KvInvalidRequestException.class)
            .hasMessage("VERBENA_ENCRYPT=" + value + ": true or false");
    }

    @Test
    void shouldNotEncryptByDefault()
    {
        assertThat(new KvClientOptions().encrypt()).isFalse();
        assertThat(new KvClientOptions().encrypt(true).encrypt()).isTrue();
        assertThat(new KvClientOptions().encrypt(true).encrypt(false).encrypt()).isFalse();
    }

    /** The caller's device is let go of, whatever the reason why there is no client. */
    @Test
    void shouldNotEncryptWithoutASecret()
    {
        final AtomicInteger ended = new AtomicInteger();
        final PeerAddress metaServer = new PeerAddress(new DeviceAddress(0, 1), 1, 1, 1);
        assertThatThrownBy(() -> RemoteKvClient.open(
            null, metaServer, new KvClientOptions().encrypt(true), ended::incrementAndGet))
            .isInstanceOf(KvInvalidRequestException.class).hasMessageContaining("encryption takes keys");
        assertThat(ended).hasValue(1);
    }
}
