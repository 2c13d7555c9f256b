package io.verbena.protocol.remote;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.util.Collections;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** An answer that cannot be written as a message fails its request alone: the server goes on, and reports it. */
class UnsendableAnswerTest
{
    private static final byte[] KEY = {1, 2, 3};

    @TempDir
    Path directory;
    private RemoteRig rig;

    @BeforeEach
    void open()
    {
        rig = new RemoteRig(directory).connected();
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    @ParameterizedTest
    @EnumSource(value = RequestKind.class, names = {"GET", "EXISTS", "PUT", "DELETE", "INCREMENT"})
    void shouldFailOneOperation(final RequestKind kind)
    {
        rig.node.answersNothing = true;
        final RemoteRig.Operation failed = rig.run(kind, KEY, RequestKind.PUT == kind ? KEY : null);
        rig.node.answersNothing = false;

        assertThat(failed.answer()).isEqualTo(
            kind.isRead() ? OperationAnswer.UNREACHABLE : OperationAnswer.OUTCOME_UNKNOWN);
        assertThat(failed.detail()).contains("cannot send the answer").contains("NullPointerException");
        assertThat(rig.errors).singleElement().isInstanceOf(NullPointerException.class);
        assertServing();
    }

    @Test
    void shouldFailOneRequestAboutTables()
    {
        rig.node.tables = Collections.singletonList(null);
        final RemoteRig.Control failed = rig.control(ControlRequest.Kind.LIST_TABLES, null);
        rig.runUntil(() -> NodeRequest.DONE == failed.state());

        assertThat(failed.status()).isEqualTo(ControlRequest.Status.REFUSED);
        assertThat(failed.detail()).contains("cannot send the answer");
        assertThat(rig.errors).hasSize(1);
        rig.node.tables = List.of("t");
        final RemoteRig.Control listed = rig.control(ControlRequest.Kind.LIST_TABLES, null);
        rig.runUntil(() -> NodeRequest.DONE == listed.state());
        assertThat(listed.result()).isEqualTo(List.of("t"));
        assertServing();
    }

    private void assertServing()
    {
        assertThat(rig.run(RequestKind.PUT, KEY, KEY).answer()).isEqualTo(OperationAnswer.STORED);
        assertThat(rig.run(RequestKind.GET, KEY, null).foundValue()).isEqualTo(KEY);
        assertThat(rig.server.owed()).isZero();
        assertThat(rig.endpoint.isBusy()).isFalse();
    }
}
