package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasMisuseException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What a context that encrypts asks for, and what it cannot do. */
class EncryptedContextTest
{
    @TempDir
    Path directory;

    @Test
    void shouldNotEncryptWhatMayBePostedAgain()
    {
        try (SoftPair pair = new SoftPair(directory, new RaasConfiguration(), new RaasConfiguration()))
        {
            assertThatThrownBy(() -> RaasContext.open(
                pair.clientDevice, new RaasConfiguration().encrypted(true).replayTimeoutNs(1)))
                .isInstanceOf(RaasMisuseException.class).hasMessageContaining("replayTimeoutNs");
        }
    }

    @Test
    void shouldAskForEncryptionWithAnotherNumberEachTime()
    {
        final byte[] data = ConnectDataDescriptor.encodeRequest(PeerIdentity.CLIENT, 8);
        final byte[] asked = ConnectDataDescriptor.encrypted(data, new SecureRandom());
        assertThat(ConnectDataDescriptor.encryptionAsked(asked)).isEqualTo(1);
        assertThat(ConnectDataDescriptor.encryptionAsked(Arrays.copyOf(asked, asked.length - 1))).isZero();
        assertThat(asked).isNotEqualTo(ConnectDataDescriptor.encrypted(data, new SecureRandom()));
    }
}
