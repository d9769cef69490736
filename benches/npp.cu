// Measures NVIDIA's NPP on the pipeline of the default preset: blur, response, 5 x 5 maxima above 1 % of the greatest,
// and a list.
//
//     nvcc -std=c++20 -O3 -arch=native benches/npp.cu -lnppif -lnppim -lnpps -lnppist -lnppc -o npp && ./npp camera.pgm
//
// The photograph (binary PGM, as `detect` reads it) is tiled to each size, as `throughput` does. NPP has no border rule
// Reflect101 and divides its window sum differently, so its list differs slightly.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <npp.h>
#include <nppi_filtering_functions.h>
#include <nppi_statistics_functions.h>

#define CHECK(call)                                                              \
    do {                                                                         \
        if (int code = static_cast<int>(call)) {                                 \
            std::fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, code); \
            std::exit(1);                                                        \
        }                                                                        \
    } while (false)

__global__ void collect(const float *response, const float *maxima, const float *greatest, int pixels, int width,
                        int2 *list, unsigned *count) {
    const float threshold = 0.01f * *greatest;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += gridDim.x * blockDim.x) {
        if (response[i] > threshold && response[i] == maxima[i]) {
            list[atomicAdd(count, 1)] = make_int2(i % width, i / width);
        }
    }
}

int main(int argc, char **argv) {
    std::ifstream file(argc > 1 ? argv[1] : "camera.pgm", std::ios::binary);
    std::string magic;
    int w, h, most;
    if (!(file >> magic >> w >> h >> most) || magic != "P5") return std::fprintf(stderr, "no binary PGM\n"), 1;
    file.get();
    std::vector<unsigned char> photograph(w * h);
    file.read(reinterpret_cast<char *>(photograph.data()), photograph.size());

    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    NppStreamContext context{};
    CHECK(cudaGetDevice(&context.nCudaDeviceId));
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, context.nCudaDeviceId));
    context.hStream = stream;
    context.nMultiProcessorCount = properties.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    context.nSharedMemPerBlock = properties.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = properties.major;
    context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
    CHECK(cudaStreamGetFlags(stream, &context.nStreamFlags));

    const int sizes[][2] = {{512, 512}, {1024, 1024}, {1920, 1080}, {3840, 2160}, {4096, 4096}};
    for (auto &[width, height] : sizes) {
        std::vector<unsigned char> tiled(width * height);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) tiled[y * width + x] = photograph[y % h * w + x % w];
        const NppiSize size{width, height};
        const NppiPoint origin{0, 0};
        const int pixels = width * height, step = width * 4;
        unsigned char *image, *smooth, *buffer, *scratch;
        float *response, *maxima, *greatest;
        int2 *list;
        unsigned *count;
        int bytes = 0;
        size_t scratchBytes = 0;
        CHECK(cudaMalloc(&image, pixels));
        CHECK(cudaMalloc(&smooth, pixels));
        CHECK(cudaMalloc(&response, 4 * pixels));
        CHECK(cudaMalloc(&maxima, 4 * pixels));
        CHECK(cudaMalloc(&greatest, 4));
        CHECK(cudaMalloc(&list, 8 * pixels));
        CHECK(cudaMalloc(&count, 4));
        CHECK(nppiFilterHarrisCornersBorderGetBufferSize(size, &bytes));
        CHECK(cudaMalloc(&buffer, bytes));
        CHECK(nppiMaxGetBufferHostSize_32f_C1R_Ctx(size, &scratchBytes, context));
        CHECK(cudaMalloc(&scratch, scratchBytes));
        CHECK(cudaMemcpy(image, tiled.data(), pixels, cudaMemcpyHostToDevice));
        auto respond = [&] {
            CHECK(nppiFilterHarrisCornersBorder_8u32f_C1R_Ctx(
                smooth, width, size, origin, response, step, size, NPP_FILTER_SOBEL, NPP_MASK_SIZE_3_X_3, NPP_MASK_SIZE_3_X_3, 0.04f, 1.0f,
                NPP_BORDER_REPLICATE, buffer, context));
        };
        auto pipeline = [&] {
            CHECK(nppiFilterGaussBorder_8u_C1R_Ctx(image, width, size, origin, smooth, width, size, NPP_MASK_SIZE_3_X_3,
                                                   NPP_BORDER_REPLICATE, context));
            respond();
            CHECK(nppiMax_32f_C1R_Ctx(response, step, size, scratch, greatest, context));
            CHECK(nppiFilterMaxBorder_32f_C1R_Ctx(response, step, size, origin, maxima, step, size, {5, 5}, {2, 2},
                                                  NPP_BORDER_REPLICATE, context));
            CHECK(cudaMemsetAsync(count, 0, 4, stream));
            collect<<<properties.multiProcessorCount * 8, 256, 0, stream>>>(response, maxima, greatest, pixels, width,
                                                                           list, count);
        };
        auto median = [&](auto work) {
            cudaEvent_t start, end;
            CHECK(cudaEventCreate(&start));
            CHECK(cudaEventCreate(&end));
            std::vector<float> times;
            for (int i = 0; i < 50; i++) {
                CHECK(cudaEventRecord(start, stream));
                work();
                CHECK(cudaEventRecord(end, stream));
                CHECK(cudaEventSynchronize(end));
                float milliseconds;
                CHECK(cudaEventElapsedTime(&milliseconds, start, end));
                times.push_back(1000 * milliseconds);
            }
            std::sort(times.begin(), times.end());
            return times[times.size() / 2];
        };
        const float whole = median(pipeline), alone = median(respond);
        unsigned found;
        CHECK(cudaMemcpy(&found, count, 4, cudaMemcpyDeviceToHost));
        std::printf("NPP %5d x %-5d response %8.1f us, pipeline %8.1f us, %u corners\n", width, height, alone, whole, found);
        for (void *memory : {(void *)image, (void *)smooth, (void *)response, (void *)maxima, (void *)greatest,
                             (void *)list, (void *)count, (void *)buffer, (void *)scratch})
            CHECK(cudaFree(memory));
    }
}
