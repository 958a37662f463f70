# One image for the api (the default), the worker and the herald command.
#   docker build -t herald .
#   docker run herald node apps/worker/dist/main.js

FROM node:24.21.0-slim AS build
WORKDIR /herald
COPY package.json package-lock.json tsconfig.build.json tsconfig.base.json ./
COPY packages packages
COPY apps apps
RUN npm ci --ignore-scripts
RUN npm run build
# The programs are bundles. Beside them stay the two packages whose files they serve, and the migrations of the history.
RUN mkdir -p /built/node_modules/@bull-board /built/node_modules/@herald/history /built/node_modules/.bin
RUN cp -r --parents apps/*/dist apps/*/package.json apps/cli/bin /built
RUN cp -r node_modules/@bull-board/ui /built/node_modules/@bull-board
RUN cp -r node_modules/swagger-ui-dist /built/node_modules
RUN cp -r packages/history/package.json packages/history/migrations /built/node_modules/@herald/history
RUN ln -s ../../apps/cli/bin/herald.js /built/node_modules/.bin/herald
RUN find /built/apps /built/node_modules \( -name '*.map' -o -name '*.d.ts' \) -delete
RUN cd /built/node_modules/swagger-ui-dist && rm swagger-ui-es-* swagger-ui.js

FROM node:24.21.0-slim
ENV NODE_ENV=production
# The collector stops a process more often and far shorter, and V8's threads leave it the processor: docs/performance.md,
# "Pauses" and "One thread".
ENV NODE_OPTIONS="--max-semi-space-size=16 --v8-pool-size=1"
# The command herald.
ENV PATH=$PATH:/herald/node_modules/.bin
LABEL org.opencontainers.image.title=herald
LABEL org.opencontainers.image.description="Delivers signed webhooks for Task transitions."
LABEL org.opencontainers.image.version=0.3.0-dev
LABEL org.opencontainers.image.licenses=MIT
LABEL org.opencontainers.image.base.name=docker.io/library/node:24.21.0-slim
WORKDIR /herald
COPY --from=build /built ./
# Nothing is written here: the file system may be read-only, and the user owns none of it. It is the image's user node;
# by a number, Kubernetes sees that it isn't root.
USER 1000:1000
# The api; the worker's pages for operators; those of the api.
EXPOSE 8080 8081 8082
# Both processes handle SIGTERM themselves and start no others, so they need no init.
CMD ["node", "apps/api/dist/main.js"]
