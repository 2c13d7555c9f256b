package io.verbena.client.routing;

import io.verbena.client.DeleteResult;
import io.verbena.client.ExpiringRecords.ExpireResult;
import io.verbena.client.Expiry;
import io.verbena.client.KvEntry;
import io.verbena.client.PutResult;
import io.verbena.client.ReplaceResult;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/** Turns an answered request into what the caller gets: a result, or one of the exceptions. */
@FunctionalInterface
interface Conversion<T>
{
    /**
     * @param request answered, with an answer that is not a failure.
     * @return what the caller gets.
     */
    T of(OperationRequest request);

    static Optional<KvEntry> entry(final OperationRequest request)
    {
        return OperationAnswer.FOUND == request.answer() ?
            Optional.of(new KvEntry(request.foundValue(), request.version(), request.foundExpiryMs())) :
            Optional.empty();
    }

    static boolean found(final OperationRequest request)
    {
        return OperationAnswer.FOUND == request.answer();
    }

    static long version(final OperationRequest request)
    {
        return request.version();
    }

    static long counter(final OperationRequest request)
    {
        return ByteBuffer.wrap(request.foundValue()).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    static PutResult putResult(final OperationRequest request)
    {
        return new PutResult(OperationAnswer.STORED == request.answer(), request.version());
    }

    static ReplaceResult replaceResult(final OperationRequest request)
    {
        return switch (request.answer())
        {
            case STORED -> new ReplaceResult(ReplaceResult.Outcome.REPLACED, request.version());
            case VERSION_MISMATCH ->
                new ReplaceResult(ReplaceResult.Outcome.VERSION_MISMATCH, request.version());
            default -> new ReplaceResult(ReplaceResult.Outcome.NOT_FOUND, 0);
        };
    }

    static ExpireResult expireResult(final OperationRequest request)
    {
        return switch (request.answer())
        {
            case STORED -> new ExpireResult(ExpireResult.Outcome.CHANGED, request.version());
            case CONDITION_NOT_MET -> new ExpireResult(ExpireResult.Outcome.CONDITION_NOT_MET, request.version());
            default -> new ExpireResult(ExpireResult.Outcome.NOT_FOUND, 0);
        };
    }

    static boolean stored(final OperationRequest request)
    {
        return OperationAnswer.STORED == request.answer();
    }

    static Optional<Expiry.TimeToLive> timeToLive(final OperationRequest request)
    {
        return OperationAnswer.FOUND == request.answer() ?
            Optional.of(new Expiry.TimeToLive(request.foundExpiryMs(), request.timeToLiveMs())) : Optional.empty();
    }

    static boolean deleted(final OperationRequest request)
    {
        return OperationAnswer.DELETED == request.answer();
    }

    static DeleteResult deleteResult(final OperationRequest request)
    {
        return switch (request.answer())
        {
            case DELETED -> new DeleteResult(DeleteResult.Outcome.DELETED, 0);
            case VERSION_MISMATCH -> new DeleteResult(DeleteResult.Outcome.VERSION_MISMATCH, request.version());
            default -> new DeleteResult(DeleteResult.Outcome.NOT_FOUND, 0);
        };
    }
}
