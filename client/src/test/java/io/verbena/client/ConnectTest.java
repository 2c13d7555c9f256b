package io.verbena.client;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** An application reaches the client's other packages by {@link KvClient#connect} alone. */
class ConnectTest
{
    @Test
    void shouldFindWhatConnects()
    {
        assertThatThrownBy(() -> KvClient.connect("nowhere", new KvClientOptions().tokenFile(Path.of("missing"))))
            .isInstanceOf(KvInvalidRequestException.class).hasMessageMatching(".*(nowhere|missing).*");
        assertThatThrownBy(() -> KvClient.connect(null))
            .isInstanceOf(KvInvalidRequestException.class).hasMessage("address is null");
        assertThatThrownBy(() -> KvClient.connect("verbena://localhost:1", null))
            .isInstanceOf(KvInvalidRequestException.class).hasMessage("options is null");
    }
}
